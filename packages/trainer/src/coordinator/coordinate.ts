import type {
  Command,
  Policy,
  PolicyEvent,
  Report,
  StopReason,
  Transition,
} from "@heterosgd/scheduler";
import type { Executor } from "./executor.js";

export interface CoordinateObserver {
  /** Every event, before the policy sees it. */
  readonly onEvent?: (event: PolicyEvent) => void;
  /** Every command, before it is carried out, with the state of the transition that it belongs to. */
  readonly onCommand?: (command: Command, state: unknown) => void;
  readonly onReport?: (report: Report) => void;
}

/**
 * The whole runtime in one loop: events in, policy, commands out. It knows no algorithm and no
 * device.
 *
 * @param begin - what the policy starts or resumes with.
 * @returns why the policy stopped.
 */
export async function coordinate<State>(
  policy: Policy<State>,
  begin: Transition<State>,
  executor: Executor,
  observer: CoordinateObserver = {},
): Promise<StopReason> {
  let [state, commands] = begin;
  for (;;) {
    for (const command of commands) {
      observer.onCommand?.(command, state);
      if (command.type === "stop") return command.reason;
      if (command.type === "report") observer.onReport?.(command.report);
      else executor.execute(command);
    }
    const event = await executor.next();
    observer.onEvent?.(event);
    [state, commands] = policy.next(state, event);
  }
}
