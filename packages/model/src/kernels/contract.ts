/**
 * The one interface that a device technology implements. A training step is written once (see
 * `network/`) over these operations; everything below is arithmetic over arrays that lie wherever
 * the technology keeps them.
 *
 * Operations are enqueued in order and may return before they are done. Only `read`, `topK` and
 * `dispose` wait. Shapes are row-major; `B` rows of a batch, `F` features, `H` units, `C` classes.
 * Arrays that hold something for each row of a batch may be longer than its rows need: what lies
 * beyond is not read, and may hold anything afterwards.
 */

/** An array on the device, opaque to the step. Kernels on the CPU use `Float32Array` itself. */
export interface DeviceArray {
  /** Number of float32 elements. */
  readonly length: number;
}

export type Activation = "relu" | "sigmoid" | "tanh";

/** `softmax`: one distribution over all classes. `sigmoid`: an independent yes or no for each. */
export type Loss = "softmax" | "sigmoid";

/**
 * The rows of one step, packed: CSR features and label sets. Arrays may be longer than needed (they
 * are allocated once for the largest batch); only the first `rows + 1` offsets and what they cover
 * count. The first offset is 0; within a row, indices and labels are strictly ascending.
 */
export interface Batch {
  /** At least 1, here and wherever an operation takes a number of rows. */
  readonly rows: number;
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly values: Float32Array;
  readonly labelOffsets: Uint32Array;
  readonly labels: Uint32Array;
}

/**
 * Weights and bias of one layer, or two arrays of the same shapes (a gradient, an optimiser's
 * state).
 */
export interface LayerArrays<A extends DeviceArray = Float32Array> {
  readonly weights: A;
  readonly bias: A;
}

/**
 * One layer as kernels see it. The first layer's weights are `inputs × outputs` (a row a feature),
 * every later layer's `outputs × inputs` (a row a unit or class). The bias has `outputs` elements.
 */
export interface Layer<A extends DeviceArray = Float32Array> extends LayerArrays<A> {
  readonly inputs: number;
  readonly outputs: number;
}

/**
 * How a gradient g changes a parameter w, where plain addition does not do.
 *
 * - `adagrad`: `s += g²`, `w −= learningRate · g / (√s + epsilon)`.
 * - `adam`: `m = beta1 · m + (1 − beta1) · g`, `v = beta2 · v + (1 − beta2) · g²`,
 *   `w −= learningRate · m̂ / (√v̂ + epsilon)`,
 *   where `m̂ = m / (1 − beta1^step)`, `v̂ = v / (1 − beta2^step)`.
 *
 * `epsilon` is above 0.
 */
export type UpdateRule =
  | { readonly name: "adagrad"; readonly epsilon: number }
  | {
      readonly name: "adam";
      readonly beta1: number;
      readonly beta2: number;
      readonly epsilon: number;
    };

/**
 * Where a layer's gradient goes. The gradient is the sum over the batch's rows, times `scale`.
 *
 * - `add`: `target += scale · gradient`. With (the replica, −learning rate / rows) this is SGD in
 *   place; with (an accumulator, 1) it is a gradient for delayed or synchronous algorithms.
 * - `rule`: `target` is updated by `rule` with the gradient `scale · gradient`. Only rows of the
 *   first layer's weights whose feature occurs in the batch, with whatever value, change
 *   (row-sparse), once a batch; its bias and later layers change as a whole. `state` holds one
 *   entry for Adagrad (sum of squares), two for Adam (first and second moment). `step` counts from
 *   1 and serves Adam's bias correction.
 */
export type GradientTarget<A extends DeviceArray = Float32Array> =
  | { readonly kind: "add"; readonly target: LayerArrays<A>; readonly scale: number }
  | {
      readonly kind: "rule";
      readonly target: LayerArrays<A>;
      readonly scale: number;
      readonly rule: UpdateRule;
      readonly learningRate: number;
      readonly step: number;
      readonly state: readonly LayerArrays<A>[];
    };

/** One source of a `blend`. */
export interface BlendTerm<A extends DeviceArray = Float32Array> {
  readonly coefficient: number;
  readonly source: A;
}

/**
 * @typeParam A - the technology's array.
 * @typeParam U - a batch as uploaded to the device.
 */
export interface Kernels<A extends DeviceArray = Float32Array, U = Batch> {
  /** What runs, for reports: `plain`, `wasm`, `native-avx512`, `cuda` … */
  readonly name: string;
  /**
   * Whether arrays are `Float32Array`s in host memory: the kernels then work in place on any such
   * array, their own or another thread's, and nothing needs copying to be shared. (Kernels in
   * WebAssembly reach only arrays that lie in their memory, and refuse others.)
   */
  readonly sharesMemory: boolean;

  /**
   * Takes `length` zeroed elements of the device's memory. Called at the start only, never in a
   * step.
   */
  allocate(length: number): A;
  /** The part of `array` from `start` on, without a copy. */
  view(array: A, start: number, length: number): A;
  /** Copies host memory into `target` (equal lengths). */
  write(source: Float32Array, target: A): void;
  /** Copies `source` into host memory (equal lengths), after everything enqueued before it. */
  read(source: A, target: Float32Array): void | Promise<void>;
  /**
   * Makes a batch available on the device. Two slots, so that the next batch may be uploaded while
   * this one is used. The host batch may be overwritten once the slot is uploaded to again.
   */
  upload(batch: Batch, slot: 0 | 1): U;

  /** First layer: `out[B×H] = activation(X · W + bias)` for the batch's CSR rows X. */
  gather(batch: U, layer: Layer<A>, activation: Activation, out: A): void;

  /** Dense layer: `out[B×O] = activation(input[B×I] · Wᵀ + bias)`. */
  dense(rows: number, input: A, layer: Layer<A>, activation: Activation, out: A): void;

  /**
   * Output layer and loss. For hidden rows `hidden[B×H]`: logits, loss against the batch's labels
   * into `losses[B]`; with `gradient`, the layer's gradient goes there; with `dHidden[B×H]`, the
   * loss's derivative by `hidden` (of the sum over rows, with the weights as they were before this
   * call).
   *
   * The target of a row with n labels is 1/n on each (softmax) or 1 on each (sigmoid). A row
   * without labels has loss 0 and no gradient, under both losses.
   */
  output(
    batch: U,
    hidden: A,
    layer: Layer<A>,
    loss: Loss,
    gradient: GradientTarget<A> | null,
    dHidden: A | null,
    losses: A,
  ): void;

  /**
   * Backward through a dense layer. `outputs` are its activations, `dOutputs[B×O]` the derivative
   * by them (overwritten). `dInput[B×I]` is computed with the weights as they were before this
   * call.
   */
  denseBackward(
    rows: number,
    input: A,
    layer: Layer<A>,
    activation: Activation,
    outputs: A,
    dOutputs: A,
    gradient: GradientTarget<A>,
    dInput: A,
  ): void;

  /**
   * Backward through the first layer: `target[f] += scale · x · dZ` for the batch's non-zeros and
   * `bias += scale · ΣdZ`, where dZ is `dOutputs[B×H]` (overwritten) times the activation's
   * derivative at `outputs`.
   */
  scatter(
    batch: U,
    layer: Layer<A>,
    activation: Activation,
    outputs: A,
    dOutputs: A,
    gradient: GradientTarget<A>,
  ): void;

  /**
   * The `k` classes of largest logit for each hidden row, best first, equal logits by ascending
   * class: `ids[B×k]`, `logits[B×k]`; `logSumExp[B]` over all classes. Requires `k ≤ C`.
   */
  topK(
    rows: number,
    hidden: A,
    layer: Layer<A>,
    k: number,
    ids: Uint32Array,
    logits: Float32Array,
    logSumExp: Float32Array,
  ): void | Promise<void>;

  /**
   * `target = Σ coefficient · source`, element by element; `target` may be one of the sources. No
   * terms: zeros.
   */
  blend(target: A, terms: readonly BlendTerm<A>[]): void;

  /**
   * Optional: many training steps in one call, so that small ones don't pay a message each. Each
   * takes the next `microBatchRows` rows of the batch (the last one what is left) and is plain SGD
   * in place on the whole network: the gradient times `−learningRate / rows of the step`. Losses
   * are those that each step saw. `layers` are the first layer, the dense ones, the output layer.
   *
   * Kernels on several threads run steps at once without locks (Recht, Ré, Wright, Niu 2011,
   * Hogwild): one may see another's update half done, and the result depends on their timing. On
   * one thread they run in order.
   */
  trainMicroBatches?(
    batch: U,
    layers: readonly Layer<A>[],
    activation: Activation,
    loss: Loss,
    microBatchRows: number,
    learningRate: number,
    losses: A,
  ): void;

  /** Gives the device's memory back. Nothing may be called after it. */
  dispose(): void | Promise<void>;
}
