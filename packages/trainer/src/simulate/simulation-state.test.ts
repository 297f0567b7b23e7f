import fc from "fast-check";
import { expect, test } from "vitest";
import { TrainerError } from "../errors.js";
import type { CheckpointDevice, CheckpointRecord } from "../checkpoint/record.js";
import {
  checkSimulationState,
  isSameSimulation,
  type SimulationState,
} from "./simulation-state.js";

const key = "ab".repeat(32);
const state: SimulationState = {
  key,
  now: 1.5,
  devices: ["there", "gone", "to come", "there"],
  random: Array.from({ length: 4 }, (_, id) => [id, 1, 2 ** 32 - 1, 3]),
  everywhere: ["global", "next"],
  pending: [
    { type: "lost", device: 1, reason: "it has left" },
    { type: "joined", device: { id: 3, maxBatchRows: 8, threads: 2 } },
  ],
};
const device = (id: number): CheckpointDevice => ({
  spec: "gpu",
  runs: { name: "plain", isa: null, threads: 1, bf16: false },
  info: { id, maxBatchRows: 8 },
  isThere: id === 0,
});
const devices = [0, 1, 2, 3].map(device);
const counted = [0, 1].map((id) => device(id).info);
const recordOf = (executor: unknown) =>
  ({
    executor,
    devices: devices.map((one) => ({ ...one, isThere: true })),
  }) as unknown as CheckpointRecord;

test("a state comes back from its JSON as it was", () => {
  expect(checkSimulationState(JSON.parse(JSON.stringify(state)))).toEqual(state);
});

test.each<[string, Partial<Record<keyof SimulationState, unknown>>]>([
  ["executor.now", { now: -1 }],
  ["executor.now", { now: null }],
  ["executor.key", { key: "x" }],
  ["executor.devices[0]", { devices: ["here", "gone", "gone", "gone"] }],
  ["executor.random", { random: state.random.slice(1) }],
  ["executor.random", { random: state.random.map(() => [0, 0, 0, 0]) }],
  ["executor.random[0][0]", { random: [[2 ** 32, 1, 1, 1], ...state.random.slice(1)] }],
  ["executor.everywhere", { everywhere: ["replica:0"] }],
  ["executor.pending", { pending: [{ type: "lost", device: 9, reason: "" }] }],
  ["executor.pending[0].type", { pending: [{ type: "stop" }] }],
  [
    "executor.pending[0].device.role",
    { pending: [{ type: "joined", device: { id: 0, maxBatchRows: 1, role: "x" } }] },
  ],
])("what can't be is refused by its place, %s", (place, changes) => {
  const refused = expect.objectContaining({
    code: "CHECKPOINT_FORMAT",
    message: expect.stringContaining(place) as string,
  });
  expect(() => checkSimulationState({ ...state, ...changes })).toThrow(refused);
});

test("whatever stands in its places, it is read or refused", () => {
  const all = () =>
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(state)),
        fc.jsonValue({ maxDepth: 3 }),
        (name, value) => {
          try {
            checkSimulationState({ ...state, [name]: value });
          } catch (error) {
            if (!(error instanceof TrainerError)) throw error;
          }
        },
      ),
      { numRuns: 1000, seed: 1 },
    );
  expect(all).not.toThrow();
});

test("a simulation is the same if times and devices are, wherever these are by now", () => {
  expect(isSameSimulation(recordOf(state), key, devices, counted)).toBe(true);
  expect(isSameSimulation(recordOf(null), key, devices, counted)).toBe(false);
  expect(isSameSimulation(recordOf(state), "cd".repeat(32), devices, counted)).toBe(false);
  expect(isSameSimulation(recordOf(state), key, devices.slice(1), counted)).toBe(false);
});

test("devices that are there without the policy's knowledge are refused, and the reverse", () => {
  for (const others of [[], [1], [0, 1, 2]]) {
    const infos = others.map((id) => device(id).info);
    expect(() => isSameSimulation(recordOf(state), key, devices, infos)).toThrow(
      "that the policy counts on",
    );
  }
});
