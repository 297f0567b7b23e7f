import { normalizedMerge } from "@heterosgd/merge";
import { adaptiveSgd } from "@heterosgd/scheduler";
import { parseDevices } from "../src/device/device-spec.js";
import type { ReplayOptions, RunEvent, StartRecord, TrainOptions } from "../src/index.js";
import { builtTrainer } from "./built.js";
import { syntheticRows } from "./synthetic.js";

const { train } = await builtTrainer();

export const shape = {
  features: 40,
  hidden: [16],
  labels: 10,
  activation: "relu",
  loss: "softmax",
} as const;
const rows = syntheticRows(1000);
export const evaluation = syntheticRows(200, { seed: 2 });

/** Adaptive SGD that merges several times an epoch. */
export const policy = ({ epochs = 4, momentum = 0.5, learningRate = 1 } = {}) =>
  adaptiveSgd({
    epochs,
    schedule: { kind: "constant", rate: learningRate },
    merge: normalizedMerge({ momentum, perturbation: 0.1, normThreshold: 1 }),
    batch: { max: 32 },
  });

/** A run of two unequal devices on a thousand rows. */
export function options(changes: Partial<TrainOptions> = {}): TrainOptions {
  return {
    train: rows,
    evaluation,
    shape,
    rule: null,
    devices: parseDevices("cpu,cpu@0.5"),
    policy: policy(),
    seed: 1,
    ...changes,
  };
}

const policyEvents = new Set([
  "done",
  "pushed",
  "applied",
  "blended",
  "evaluated",
  "checkpointed",
  "save",
  "resume",
  "lost",
  "joined",
  "finish",
]);
/** What the policy saw of a run and where it was resumed, which is what a replay needs. */
export const ofPolicy = (events: readonly RunEvent[]) =>
  events.filter((event) => policyEvents.has(event.type)) as unknown as ReplayOptions["events"];

/** What a run's start says of its devices, for replaying it on the same kernels. */
export function devicesOf(events: readonly RunEvent[]): StartRecord["devices"] {
  const start = events.find((event) => event.type === "start");
  if (start === undefined) throw new Error("the run has no start");
  return start.devices;
}

/** Trains, and keeps the events. */
export async function recorded(changes: Partial<TrainOptions> = {}) {
  const events: RunEvent[] = [];
  const result = await train(options({ ...changes, onEvent: (event) => events.push(event) }));
  return { result, events };
}
