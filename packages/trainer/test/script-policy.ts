import type { Command, ModelName, Policy, StopReason } from "@heterosgd/scheduler";

const answered = new Set<Command["type"]>([
  "step",
  "accumulate",
  "push",
  "apply",
  "blend",
  "evaluate",
  "checkpoint",
]);

/** Gives one group of commands after another, each once all of the group before is answered. */
export function scriptPolicy(
  models: readonly ModelName[],
  groups: readonly (readonly Command[])[],
): Policy<{ readonly group: number; readonly open: number }> {
  const begin = (
    group: number,
  ): readonly [{ readonly group: number; readonly open: number }, readonly Command[]] => {
    const commands = groups[group] ?? [stop("steps")];
    return [{ group, open: commands.filter(({ type }) => answered.has(type)).length }, commands];
  };
  return {
    name: "script",
    maxBatchRows: 64,
    models: () => models,
    start: () => begin(0),
    next: (state, event) => {
      const open = event.type === "lost" ? state.open : state.open - 1;
      return open === 0 ? begin(state.group + 1) : [{ ...state, open }, []];
    },
    ...neverResumed,
  };
}

/** The part of a policy that tests without checkpoints have no use for. */
const neverResumed = { resume: never, devices: never, checkState: never };

function never(): never {
  throw new Error("this policy is never resumed");
}

export const stop = (reason: StopReason): Command => ({ type: "stop", reason, models: ["global"] });
