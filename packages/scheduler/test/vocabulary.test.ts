import { describe, expect, it } from "vitest";
import { createRowQueue, takeRows } from "../src/index.js";
import type { Command, ModelName, Policy, RowQueue, Transition } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import { checked, commandsOf } from "./support.js";

interface SyncState {
  readonly queue: RowQueue;
  readonly devices: readonly number[];
  readonly iteration: number;
  /** Rows of the current iteration's gradients. */
  readonly batch: number;
  /** Gradients that have not arrived. */
  readonly waiting: number;
}

const gradient = (device: number): ModelName => `gradient:${device}:0`;

/**
 * Synchronous SGD in the policies' vocabulary: all devices compute a gradient at one model, a
 * barrier, then `w ← w − η · Σ gradient / rows`.
 */
function sync(batchRows: number, learningRate: number): Policy<SyncState> {
  function iterate(state: SyncState): Transition<SyncState> {
    const commands: Command[] = [];
    let { queue } = state;
    let batch = 0;
    for (const device of state.devices) {
      const [next, rows] = takeRows(queue, batchRows);
      if (rows.length === 0) break;
      queue = next;
      batch += rows.reduce((sum, range) => sum + range.count, 0);
      const into = gradient(device);
      commands.push({ type: "pull", device });
      commands.push({
        type: "accumulate",
        device,
        rows,
        model: `replica:${device}`,
        into,
        reset: true,
      });
      commands.push({ type: "push", device, model: into, norm: false });
    }
    if (batch === 0) return [state, [{ type: "stop", reason: "epochs", models: ["global"] }]];
    return [{ ...state, queue, batch, waiting: commands.length / 3 }, commands];
  }

  function combine(state: SyncState): Transition<SyncState> {
    const coefficient = -learningRate / state.batch;
    const terms = [
      { model: "global", coefficient: 1 } as const,
      ...state.devices.map((device) => ({ model: gradient(device), coefficient })),
    ];
    const id = state.iteration;
    return [state, [{ type: "blend", id, target: "next", terms, stateTerms: [] }]];
  }

  return {
    name: "sync",
    maxBatchRows: batchRows,
    models: (devices) => [
      "global",
      "next",
      ...devices.flatMap(({ id }) => [`replica:${id}` as const, gradient(id)]),
    ],
    start: ({ devices, rows }) =>
      iterate({
        queue: createRowQueue(rows, 2),
        devices: devices.map(({ id }) => id),
        iteration: 0,
        batch: 0,
        waiting: 0,
      }),
    next: (state, event) => {
      if (event.type === "pushed") {
        const arrived = { ...state, waiting: state.waiting - 1 };
        return arrived.waiting === 0 ? combine(arrived) : [arrived, []];
      }
      if (event.type !== "blended") return [state, []];
      const [next, commands] = iterate({ ...state, iteration: state.iteration + 1 });
      return [next, [{ type: "rotate", names: ["global", "next"] }, ...commands]];
    },
    // Every barrier is a point to go on from.
    resume: (state) => iterate(state),
    devices: (state) => state.devices.map((id) => ({ id, maxBatchRows: batchRows })),
    checkState: (value) => value as SyncState,
  };
}

describe("the vocabulary of commands", () => {
  it("expresses synchronous SGD", () => {
    const devices = [1, 0.5, 2].map((speed, id) => ({ id, speed, maxBatchRows: 4 }));
    const { trained, commands } = runFake(checked(sync(4, 1.5)), {
      devices,
      rows: 24,
      parameters: 1,
    });
    expect(trained.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, row) => row));
    const blends = commandsOf(commands, "blend");
    expect(blends.length).toBe(4);
    expect(blends[0]?.terms).toEqual([
      { model: "global", coefficient: 1 },
      { model: "gradient:0:0", coefficient: -0.125 },
      { model: "gradient:1:0", coefficient: -0.125 },
      { model: "gradient:2:0", coefficient: -0.125 },
    ]);
  });
});
