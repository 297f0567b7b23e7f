/** Small checkpoints with every kind of array, whose numbers follow from a seed. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { optimizerStateArrays, parameterLayout, type UpdateRule } from "@heterosgd/model";
import type { ModelName } from "@heterosgd/scheduler";
import { createRandom } from "@heterosgd/sparse";
import type { CheckpointRecord } from "../src/checkpoint/record.js";
import type { ModelArrays } from "../src/checkpoint/model-names.js";
import type { CheckpointContents } from "../src/checkpoint/write-checkpoint.js";

export interface RandomCheckpointOptions {
  readonly step?: number;
  readonly rule?: UpdateRule | null;
  readonly models?: readonly ModelName[];
  /** P@1 of its model; null for one that was not evaluated. */
  readonly precision?: number | null;
  /** Units of the second hidden layer. */
  readonly hidden?: number;
}

const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;
const sum = "0123456789abcdef".repeat(4);

export function randomCheckpoint(
  seed: number,
  {
    step = 100,
    rule = adam,
    models = ["global", "previous", "replica:0", "gradient:0:1"],
    precision = 0.5,
    hidden = 2,
  }: RandomCheckpointOptions = {},
): CheckpointContents {
  const random = createRandom(seed);
  const shape = {
    features: 1 + random.nextBelow(4),
    hidden: [1 + random.nextBelow(3), hidden],
    labels: 1 + random.nextBelow(4),
    activation: "relu",
    loss: "softmax",
  } as const;
  const layout = parameterLayout(shape);
  const array = () => {
    const values = new Float32Array(new SharedArrayBuffer(layout.length * 4));
    for (const { offset, length } of layout.tensors) {
      for (let i = offset; i < offset + length; i++) values[i] = random.nextGaussian();
    }
    values[0] = -0;
    return values;
  };
  const record: CheckpointRecord = {
    program: "heterosgd 1.2.3",
    step,
    algorithm: "sync",
    policy: { phase: "working", queue: { rows: 10, cursor: random.nextBelow(10) } },
    shape,
    optimizer: rule,
    seed: random.nextBelow(1000),
    trainRows: 10,
    evaluationRows: 5,
    models: models.map((name) => ({ name, updates: random.nextBelow(1000) })),
    devices: [
      {
        spec: "cpu:2@0.5",
        runs: { name: "native", isa: null, threads: 2, bf16: false },
        info: { id: 0, maxBatchRows: 8, threads: 2 },
        isThere: true,
      },
    ],
    executor: { now: random.nextFloat() },
    rows: random.nextBelow(1000),
    merges: random.nextBelow(1000),
    seconds: random.nextFloat(),
    metrics:
      precision === null
        ? null
        : {
            cutoffs: [1],
            rows: 5,
            rowsWithoutLabels: 0,
            precision: [precision],
            ndcg: [precision],
            recall: [random.nextFloat()],
          },
    patience: { best: 0.25, without: 1 },
    events: { bytes: 1234, lines: 12 },
    fingerprints: { train: sum, evaluation: null, configuration: { epochs: sum } },
  };
  const states = optimizerStateArrays(rule);
  const arrays = models.map((name): ModelArrays => ({
    parameters: array(),
    state: Array.from({ length: name.startsWith("gradient") ? 0 : states }, array),
  }));
  const labelNames = Array.from({ length: shape.labels }, (_, i) => `label ${i}`);
  return { record, models: arrays, labelNames, info: { note: `seed ${seed}` } };
}

/** Arrays of the same sizes, filled with something else. */
export function emptyArrays({ parameters, state }: ModelArrays): ModelArrays {
  const other = (array: Float32Array) => new Float32Array(array.length).fill(7);
  return { parameters: other(parameters), state: state.map(other) };
}

/** The bits of all of a model's arrays. */
export function bitsOf({ parameters, state }: ModelArrays): number[][] {
  return [parameters, ...state].map((array) =>
    Array.from(new Uint32Array(array.buffer, array.byteOffset, array.length)),
  );
}

export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "checkpoints-"));
}
