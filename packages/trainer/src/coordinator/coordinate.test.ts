import type { Policy, PolicyEvent } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import { coordinate } from "./coordinate.js";
import type { ExecutableCommand } from "./executor.js";

/** Three steps, one after another, then stop. */
const threeSteps: Policy<number> = {
  name: "three-steps",
  maxBatchRows: 1,
  models: () => ["global"],
  start: () => [0, [step(0)]],
  next: (steps) =>
    steps < 2
      ? [steps + 1, [{ type: "report", report: { type: "epoch", epoch: steps } }, step(steps + 1)]]
      : [steps + 1, [{ type: "stop", reason: "steps", models: ["global"] }]],
  resume: (steps) => [steps, []],
  devices: () => [],
  checkState: Number,
};

function step(start: number) {
  return {
    type: "step",
    device: 0,
    rows: [{ epoch: 0, start, count: 1 }],
    learningRate: 1,
    model: "global",
  } as const;
}

test("commands go to the executor, events to the policy, reports to the observer, until the stop", async () => {
  const executed: ExecutableCommand[] = [];
  const seen: string[] = [];
  const reason = await coordinate(
    threeSteps,
    threeSteps.start({ devices: [{ id: 0, maxBatchRows: 1 }], rows: 3, parameters: 1 }),
    {
      execute: (command) => executed.push(command),
      next: async (): Promise<PolicyEvent> => ({
        type: "done",
        device: 0,
        rows: [],
        nonZeros: 0,
        seconds: 0,
        loss: 0,
      }),
    },
    { onEvent: ({ type }) => seen.push(type), onReport: ({ type }) => seen.push(type) },
  );
  expect(reason).toBe("steps");
  expect(executed).toEqual([step(0), step(1), step(2)]);
  expect(seen).toEqual(["done", "epoch", "done", "epoch", "done"]);
});
