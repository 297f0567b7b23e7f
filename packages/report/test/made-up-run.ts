/** Events for tests: nothing that was run. */

type Event = Readonly<Record<string, unknown>>;

export const startEvent: Event = {
  at: 10,
  type: "start",
  algorithm: "adaptive-sgd",
  seed: 7,
  shape: { features: 1000, hidden: [64], labels: 50, activation: "relu", loss: "softmax" },
  trainRows: 1000,
  evaluationRows: 200,
  parameters: 67_250,
  devices: [
    { device: 0, name: "fast", kernels: "native" },
    { device: 1, name: "slow", kernels: "plain" },
  ],
};

export function done(
  at: number,
  device: number,
  rows: number,
  seconds: number,
  loss: unknown,
): Event {
  return {
    at,
    type: "done",
    device,
    rows: [{ epoch: 0, start: 0, count: rows }],
    nonZeros: 5,
    seconds,
    loss,
  };
}

/** Batch size from now on, updates and weight of each device. */
export function merge(
  at: number,
  parts: readonly (readonly [batch: number, next: number, updates: number, weight: number])[],
): Event {
  return {
    at,
    type: "merge",
    merge: 1,
    epoch: 0,
    rows: 0,
    perturbed: false,
    momentum: 0,
    devices: parts.map(([batchRows, nextBatchRows, updates, weight], device) => ({
      device,
      updates,
      rows: updates * batchRows,
      batchRows,
      nextBatchRows,
      learningRate: 0.1,
      weight,
    })),
  };
}

export function evaluation(at: number, rows: number, precision: readonly number[]): Event {
  const cutoffs = [1, 3, 5].slice(0, precision.length);
  const metrics = {
    cutoffs,
    rows: 200,
    rowsWithoutLabels: 0,
    precision,
    ndcg: precision,
    recall: precision,
  };
  return { at, type: "evaluation", rows, metrics };
}

/** A short run of two devices: mega-batches of a second, an evaluation after each. */
export const shortRun: readonly Event[] = [
  startEvent,
  done(10.5, 0, 100, 0.5, 300),
  done(11, 0, 100, 0.5, 200),
  done(11, 1, 100, 1, 250),
  merge(11, [
    [100, 100, 2, 0.75],
    [100, 50, 1, 0.25],
  ]),
  evaluation(11.25, 300, [0.25, 0.2]),
  done(11.75, 0, 100, 0.5, 100),
  done(12, 1, 50, 0.5, 100),
  merge(12, [
    [100, 120, 1, 0.5],
    [50, 50, 1, 0.5],
  ]),
  evaluation(12.25, 450, [0.5, 0.4]),
  {
    at: 13,
    type: "saved",
    checkpoint: "step-5",
    step: 5,
    bytes: 1,
    seconds: 0.5,
    notRemoved: null,
  },
  {
    at: 14,
    type: "end",
    reason: "epochs",
    devices: [
      { device: 0, usage: { training: 1.5, merging: 0.25, evaluating: 0.25, waiting: 0.25 } },
      { device: 1, usage: { training: 1.5, merging: 0.25, evaluating: 0.5, waiting: 0 } },
    ],
  },
];
