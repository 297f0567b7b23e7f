import type { Command, ModelName, Policy } from "@heterosgd/scheduler";

const answered = new Set<Command["type"]>([
  "step",
  "accumulate",
  "push",
  "apply",
  "blend",
  "evaluate",
]);

/** Gives one group of commands after another, each once all of the group before is answered. */
export function scriptPolicy(
  models: readonly ModelName[],
  groups: readonly (readonly Command[])[],
): Policy<{ readonly group: number; readonly open: number }> {
  const begin = (
    group: number,
  ): readonly [{ readonly group: number; readonly open: number }, readonly Command[]] => {
    const commands = groups[group] ?? [{ type: "stop", reason: "steps" } as const];
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
  };
}
