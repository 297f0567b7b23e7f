/** Operations of the Kernels contract on a made-up network, as `bench gpu` times them on any kernels. */
import {
  initialise,
  layersOf,
  parameterLayout,
  type Batch,
  type DeviceArray,
  type GradientTarget,
  type Kernels,
  type Layer,
} from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { madeUpBatch, nonZerosOf } from "../made-up-batches.js";

export type AnyKernels = Kernels<DeviceArray, unknown>;

export interface OperationSizes {
  readonly rows: number;
  readonly labels: number;
  readonly features: number;
}

/** As in Amazon-670k. */
const NON_ZEROS = 76;
const HIDDEN = 128;
const TOP = 5;

/** What one run of an operation is. */
interface Amounts {
  /** Floating-point operations, of products and sums alone. */
  readonly flops: number;
  /** Bytes of the device's memory that it has to touch at least; of transfers, what is copied. */
  readonly bytes: number;
}

export interface Operation extends Amounts {
  readonly name: string;
  /** Whether it copies between host and device. */
  readonly isTransfer: boolean;
  /** May return before it is done. */
  readonly run: () => void | Promise<void>;
  /** What it computed, to be compared with others. */
  readonly results: () => Promise<readonly Float32Array[]>;
}

export interface OpenOperations {
  readonly operations: readonly Operation[];
  /** Waits for what runs. */
  readonly finish: () => Promise<void>;
  /** From now on updates are so small that weights stay what they are, however often they are made. */
  readonly calm: () => void;
}

export function describeOperations({ rows, labels, features }: OperationSizes): string {
  return `${labels.toLocaleString("en-US")} labels, batches of ${rows} rows with ${NON_ZEROS} non-zeros, two hidden layers of ${HIDDEN}, ${features.toLocaleString("en-US")} features`;
}

/** Takes all arrays and fills them, the same whatever the kernels. */
export function openOperations(
  kernels: AnyKernels,
  { rows, labels, features }: OperationSizes,
): OpenOperations {
  const layout = parameterLayout({
    features,
    hidden: [HIDDEN, HIDDEN],
    labels,
    activation: "relu",
    loss: "softmax",
  });
  const host = new Float32Array(layout.length);
  initialise(layout, host, 1);
  const filled = () => {
    const array = kernels.allocate(layout.length);
    kernels.write(host, array);
    return array;
  };
  const [replica, other, blended] = [filled(), filled(), kernels.allocate(layout.length)];
  const moments = [kernels.allocate(layout.length), kernels.allocate(layout.length)];
  const states = moments.map((array) => layersOf(kernels, layout, array));
  const layers = layersOf(kernels, layout, replica);
  const [first, dense, last] = layers as [
    Layer<DeviceArray>,
    Layer<DeviceArray>,
    Layer<DeviceArray>,
  ];
  const batch = batchOf({ rows, labels, features });
  const entries = nonZerosOf(batch);
  const hiddenArray = () => kernels.allocate(rows * HIDDEN);
  const [hidden1, hidden2, dHidden1, dHidden2] = Array.from({ length: 4 }, hiddenArray) as [
    DeviceArray,
    DeviceArray,
    DeviceArray,
    DeviceArray,
  ];
  const losses = kernels.allocate(rows);
  const [ids, logits] = [new Uint32Array(TOP * rows), new Float32Array(TOP * rows)];
  const logSumExp = new Float32Array(rows);
  const uploaded = kernels.upload(batch, 0);
  const rate = { now: 0.5 };

  const sgd = (index: number): GradientTarget<DeviceArray> => ({
    kind: "add",
    target: layers[index]!,
    scale: -rate.now / rows,
  });
  const adam = (index: number): GradientTarget<DeviceArray> => ({
    kind: "rule",
    target: layers[index]!,
    scale: 1 / rows,
    rule: { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
    learningRate: rate.now / 50,
    step: 1,
    state: states.map((layer) => layer[index]!),
  });
  const read = async (array: DeviceArray, start: number, length: number) => {
    const values = new Float32Array(length);
    await kernels.read(kernels.view(array, start, length), values);
    return values;
  };
  const whole = (array: DeviceArray) => read(array, 0, array.length);
  // Of weights those that change by more than rounding: of the batch's own features and labels, the first and the last.
  const compared = [
    endsOf(batch.indices.subarray(0, entries)),
    [0, HIDDEN - 1],
    endsOf(batch.labels),
  ];
  const rowsIn = (array: DeviceArray, index: number) =>
    compared[index]!.map(async (row) => {
      const start = layout.layers[index]!.weights.offset + row * HIDDEN;
      return { start, values: await read(array, start, HIDDEN) };
    });
  const changes = async (index: number) => {
    const rowsRead = await Promise.all(rowsIn(replica, index));
    return rowsRead.map(({ start, values }) => values.map((value, i) => value - host[start + i]!));
  };
  // Adam's step has the gradient's size divided out: what rounding leaves of one near 0 would show.
  const momentsOf = async (index: number) => {
    const rowsRead = await Promise.all(moments.flatMap((array) => rowsIn(array, index)));
    return rowsRead.map(({ values }) => values);
  };

  const rules = {
    SGD: { to: sgd, results: changes },
    Adam: { to: adam, results: momentsOf },
  } as const;

  const matrix = 4 * labels * HIDDEN;
  const product = 2 * rows * labels * HIDDEN;
  const square = { flops: 2 * rows * HIDDEN * HIDDEN, bytes: 4 * HIDDEN * (HIDDEN + 2 * rows) };
  const operation = (
    name: string,
    amounts: Amounts,
    run: Operation["run"],
    results: Operation["results"],
    isTransfer = false,
  ): Operation => ({ name, ...amounts, run, results, isTransfer });
  const outputWith = (rule: keyof typeof rules, bytes: number) =>
    operation(
      `output layer, ${rule}`,
      { flops: 3 * product, bytes },
      () => kernels.output(uploaded, hidden2, last, "softmax", rules[rule].to(2), dHidden2, losses),
      async () => [await whole(losses), await whole(dHidden2), ...(await rules[rule].results(2))],
    );
  const scatterWith = (rule: keyof typeof rules, bytes: number) =>
    operation(
      `first layer backward, ${rule}`,
      { flops: 2 * entries * HIDDEN, bytes },
      () => kernels.scatter(uploaded, first, "relu", hidden1, dHidden1, rules[rule].to(0)),
      () => rules[rule].results(0),
    );
  const gather = (from: () => unknown) => () => kernels.gather(from(), first, "relu", hidden1);
  const rowsOfWeights = 4 * entries * HIDDEN;

  const operations = [
    operation(
      "upload, first layer forward",
      { flops: 2 * entries * HIDDEN, bytes: rowsOfWeights },
      gather(() => kernels.upload(batch, 1)),
      async () => [await whole(hidden1)],
    ),
    operation(
      "first layer forward",
      { flops: 2 * entries * HIDDEN, bytes: rowsOfWeights },
      gather(() => uploaded),
      async () => [await whole(hidden1)],
    ),
    operation(
      "dense layer forward",
      square,
      () => kernels.dense(rows, hidden1, dense, "relu", hidden2),
      async () => [await whole(hidden2)],
    ),
    operation(
      "output layer, loss alone",
      { flops: product, bytes: matrix },
      () => kernels.output(uploaded, hidden2, last, "softmax", null, null, losses),
      async () => [await whole(losses)],
    ),
    outputWith("SGD", 3 * matrix),
    outputWith("Adam", 7 * matrix),
    operation(
      "dense layer backward, SGD",
      { flops: 2 * square.flops, bytes: 2 * square.bytes },
      () =>
        kernels.denseBackward(rows, hidden1, dense, "relu", hidden2, dHidden2, sgd(1), dHidden1),
      async () => [await whole(dHidden1), ...(await changes(1))],
    ),
    scatterWith("SGD", 2 * rowsOfWeights),
    scatterWith("Adam", 6 * rowsOfWeights),
    operation(
      `best ${TOP} classes`,
      { flops: product, bytes: matrix },
      () => kernels.topK(rows, hidden2, last, TOP, ids, logits, logSumExp),
      () => Promise.resolve([logits.slice(), logSumExp.slice()]),
    ),
    operation(
      "blend of 2 models",
      { flops: 3 * layout.length, bytes: 12 * layout.length },
      () =>
        kernels.blend(blended, [
          { coefficient: 0.25, source: replica },
          { coefficient: 0.75, source: other },
        ]),
      async () => [await read(blended, 0, Math.min(layout.length, 1e6))],
    ),
    operation(
      "read a model",
      { flops: 0, bytes: 4 * layout.length },
      () => kernels.read(replica, host),
      () => Promise.resolve([]),
      true,
    ),
    operation(
      "write a model",
      { flops: 0, bytes: 4 * layout.length },
      () => kernels.write(host, replica),
      () => Promise.resolve([]),
      true,
    ),
  ];
  return {
    operations,
    finish: async () => void (await read(losses, 0, 1)),
    calm: () => {
      rate.now = 1e-7;
    },
  };
}

function batchOf({ rows, labels, features }: OperationSizes): Batch {
  const shape = { rows, features, classes: labels, nonZeros: NON_ZEROS };
  return madeUpBatch(createRandom(1, labels), { ...shape, draw: "log-uniform" });
}

function endsOf(ids: Uint32Array): readonly [least: number, most: number] {
  return [ids.reduce((a, b) => Math.min(a, b)), ids.reduce((a, b) => Math.max(a, b))];
}
