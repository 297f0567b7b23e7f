import type {
  Batch,
  DeviceArray,
  GradientTarget,
  Kernels,
  Layer,
  UpdateRule,
} from "../kernels/contract.js";
import { layersOf, type ParameterLayout } from "./layout.js";

/** `GradientTarget` over flat arrays: where the gradient of a whole network goes. */
export type FlatGradientTarget<A extends DeviceArray = Float32Array> =
  | { readonly kind: "add"; readonly target: A; readonly scale: number }
  | {
      readonly kind: "rule";
      readonly target: A;
      readonly scale: number;
      readonly rule: UpdateRule;
      readonly learningRate: number;
      /** Counts from 1. */
      readonly step: number;
      /** As many arrays as `optimizerStateArrays(rule)` says. */
      readonly state: readonly A[];
    };

/** The best classes of each row: what `predict` fills. Arrays may be longer than needed. */
export interface TopK {
  /** Classes, `rows × k`, best first, equal logits by ascending class. */
  readonly ids: Uint32Array;
  /** Their logits, `rows × k`. */
  readonly logits: Float32Array;
  /** Logarithm of the sum of the exponentials of all of a row's logits. */
  readonly logSumExp: Float32Array;
}

/** Room for the best `k` classes of `rows` rows. */
export function createTopK(rows: number, k: number): TopK {
  return {
    ids: new Uint32Array(rows * k),
    logits: new Float32Array(rows * k),
    logSumExp: new Float32Array(rows),
  };
}

export interface NetworkOptions {
  /** The largest batch. Work buffers are allocated for it. */
  readonly maxRows: number;
}

/**
 * The forward and backward pass over one device's kernels. Holds the activations of one batch, so
 * one call of `train`, `loss` or `predict` at a time; the other slot may be uploaded to meanwhile.
 */
export interface Network<A extends DeviceArray = Float32Array, U = Batch> {
  readonly layout: ParameterLayout;
  readonly maxRows: number;

  /**
   * One training step on an uploaded batch of `rows` rows: forward at `weights`, backward, and the
   * gradient goes to `target`, which may be `weights` itself (SGD in place). Returns the sum of the
   * rows' losses before the step; NaN or Infinity, never an exception, where the arithmetic has
   * left the finite numbers: what then is the caller's decision.
   *
   * @throws RangeError above `maxRows`.
   */
  train(batch: U, rows: number, weights: A, target: FlatGradientTarget<A>): Promise<number>;

  /**
   * Steps of plain SGD in place at `weights`, one on each `microBatchRows` rows of an uploaded batch
   * of `rows` rows (the last on what is left), in one call; `undefined` where the kernels lack it.
   * Returns the sum of the losses that the steps saw, as `train` does.
   *
   * @throws RangeError above `maxRows`, or unless `microBatchRows` is a whole number of at least 1.
   */
  readonly trainMicroBatches?:
    | ((
        batch: U,
        rows: number,
        microBatchRows: number,
        weights: A,
        learningRate: number,
      ) => Promise<number>)
    | undefined;

  /** The sum of the rows' losses, without a gradient. @throws RangeError above `maxRows`. */
  loss(batch: U, rows: number, weights: A): Promise<number>;

  /**
   * Finds the best `k` classes of each row and writes them into `out`.
   *
   * @throws RangeError if `k` exceeds the labels, or above `maxRows`, or if `out` is too short.
   */
  predict(batch: U, rows: number, weights: A, k: number, out: TopK): Promise<void>;
}

/**
 * Puts a network together from kernels and a layout. All buffers are allocated here, none in a
 * step.
 */
export function createNetwork<A extends DeviceArray, U>(
  kernels: Kernels<A, U>,
  layout: ParameterLayout,
  { maxRows }: NetworkOptions,
): Network<A, U> {
  if (!Number.isInteger(maxRows) || maxRows < 1) {
    throw new RangeError(`maxRows must be a whole number of at least 1, not ${maxRows}.`);
  }
  const { activation, loss: lossName, hidden, labels } = layout.shape;
  const outputs = hidden.map((units) => kernels.allocate(maxRows * units));
  const dOutputs = hidden.map((units) => kernels.allocate(maxRows * units));
  const lossArray = kernels.allocate(maxRows);
  const hostLosses = new Float32Array(maxRows);
  const last = hidden.length - 1;

  // A step names the same few flat arrays again and again, and a view costs an allocation.
  const known = new WeakMap<A, readonly Layer<A>[]>();
  const layers = (flat: A): readonly Layer<A>[] => {
    let found = known.get(flat);
    if (found === undefined) known.set(flat, (found = layersOf(kernels, layout, flat)));
    return found;
  };

  const layerTarget = (target: FlatGradientTarget<A>, index: number): GradientTarget<A> => {
    const layer = layers(target.target)[index]!;
    return target.kind === "add"
      ? { kind: "add", target: layer, scale: target.scale }
      : { ...target, target: layer, state: target.state.map((flat) => layers(flat)[index]!) };
  };

  const forward = (batch: U, rows: number, net: readonly Layer<A>[]): void => {
    kernels.gather(batch, net[0]!, activation, outputs[0]!);
    for (let i = 1; i <= last; i++) {
      kernels.dense(rows, outputs[i - 1]!, net[i]!, activation, outputs[i]!);
    }
  };

  const checkRows = (rows: number): void => {
    if (rows > maxRows) {
      throw new RangeError(`The batch has ${rows} rows, the network has room for ${maxRows}.`);
    }
  };

  const sumOfLosses = async (rows: number): Promise<number> => {
    await kernels.read(lossArray, hostLosses);
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += hostLosses[row]!;
    return sum;
  };

  return {
    layout,
    maxRows,

    trainMicroBatches:
      kernels.trainMicroBatches === undefined
        ? undefined
        : async (batch, rows, microBatchRows, weights, learningRate) => {
            checkRows(rows);
            if (!Number.isInteger(microBatchRows) || microBatchRows < 1) {
              throw new RangeError(
                `microBatchRows must be a whole number of at least 1, not ${microBatchRows}.`,
              );
            }
            kernels.trainMicroBatches!(
              batch,
              layers(weights),
              activation,
              lossName,
              microBatchRows,
              learningRate,
              lossArray,
            );
            return sumOfLosses(rows);
          },

    async train(batch, rows, weights, target) {
      checkRows(rows);
      const net = layers(weights);
      const gradients = net.map((_, index) => layerTarget(target, index));
      forward(batch, rows, net);
      kernels.output(
        batch,
        outputs[last]!,
        net[last + 1]!,
        lossName,
        gradients[last + 1]!,
        dOutputs[last]!,
        lossArray,
      );
      for (let i = last; i > 0; i--) {
        kernels.denseBackward(
          rows,
          outputs[i - 1]!,
          net[i]!,
          activation,
          outputs[i]!,
          dOutputs[i]!,
          gradients[i]!,
          dOutputs[i - 1]!,
        );
      }
      kernels.scatter(batch, net[0]!, activation, outputs[0]!, dOutputs[0]!, gradients[0]!);
      return sumOfLosses(rows);
    },

    async loss(batch, rows, weights) {
      checkRows(rows);
      const net = layers(weights);
      forward(batch, rows, net);
      kernels.output(batch, outputs[last]!, net[last + 1]!, lossName, null, null, lossArray);
      return sumOfLosses(rows);
    },

    async predict(batch, rows, weights, k, out) {
      checkRows(rows);
      if (!Number.isInteger(k) || k < 1 || k > labels) {
        throw new RangeError(`k must be a whole number from 1 to the ${labels} labels, not ${k}.`);
      }
      const room = Math.min(out.ids.length, out.logits.length);
      if (room < rows * k || out.logSumExp.length < rows) {
        throw new RangeError(`The arrays for the best ${k} of ${rows} rows are too short.`);
      }
      const net = layers(weights);
      forward(batch, rows, net);
      await kernels.topK(
        rows,
        outputs[last]!,
        net[last + 1]!,
        k,
        out.ids,
        out.logits,
        out.logSumExp,
      );
    },
  };
}
