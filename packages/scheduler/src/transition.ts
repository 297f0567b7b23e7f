import type { Transition } from "./contract.js";

/** Goes on from a transition's state; the commands of both, in order. */
export function andThen<State>(
  [state, commands]: Transition<State>,
  next: (state: State) => Transition<State>,
): Transition<State> {
  const [result, more] = next(state);
  return [result, [...commands, ...more]];
}
