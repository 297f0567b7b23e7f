/**
 * What a GPU's kernels are like to those who use them: arrays that nobody else sees, batches that are
 * copied when they are uploaded, operations that are done some time after they were asked for. The
 * arithmetic is that of other kernels, so results are theirs to the last bit.
 */
import type {
  Batch,
  DeviceArray,
  GradientTarget,
  Kernels,
  Layer,
  LayerArrays,
} from "@heterosgd/model";

const secret = Symbol("what an opaque array holds");

/** An array of one device. Its elements are reached through that device's kernels alone. */
class OpaqueArray implements DeviceArray {
  readonly [secret]: { readonly owner: object; readonly values: Float32Array };

  constructor(owner: object, values: Float32Array) {
    this[secret] = { owner, values };
  }

  get length(): number {
    return this[secret].values.length;
  }
}

interface OpaqueBatch {
  readonly owner: object;
  /** As the inner kernels know it; null before it is there, and after its slot was uploaded to again. */
  inner: Batch | null;
}

export interface OpaqueKernels extends Kernels<OpaqueArray, OpaqueBatch> {
  /** Whether its memory was given back. */
  isDisposed(): boolean;
}

/** Wraps kernels that share memory. */
export function createOpaqueKernels(inner: Kernels): OpaqueKernels {
  const owner = {};
  const slots: (OpaqueBatch | null)[] = [null, null];
  const queue: (() => void)[] = [];
  let disposed = false;

  function enqueue(operation: () => void): void {
    requireLife();
    queue.push(operation);
  }

  /** Does what was asked for, later than that. */
  async function finish(): Promise<void> {
    requireLife();
    await new Promise((resolve) => setImmediate(resolve));
    for (const operation of queue.splice(0)) operation();
  }

  function requireLife(): void {
    if (disposed) throw new Error("the kernels were used after dispose");
  }

  function inside(array: OpaqueArray): Float32Array {
    if (!(array instanceof OpaqueArray)) throw new TypeError("an array that is none of a device's");
    if (array[secret].owner !== owner) throw new TypeError("an array of another device");
    return array[secret].values;
  }

  function layerInside({ inputs, outputs, weights, bias }: Layer<OpaqueArray>): Layer {
    return { inputs, outputs, weights: inside(weights), bias: inside(bias) };
  }

  const arraysInside = ({ weights, bias }: LayerArrays<OpaqueArray>): LayerArrays => ({
    weights: inside(weights),
    bias: inside(bias),
  });

  function gradientInside(gradient: GradientTarget<OpaqueArray>): GradientTarget {
    const target = arraysInside(gradient.target);
    return gradient.kind === "add"
      ? { ...gradient, target }
      : { ...gradient, target, state: gradient.state.map(arraysInside) };
  }

  /** When the operation is done. */
  function batchInside({ owner: its, inner: uploaded }: OpaqueBatch): Batch {
    if (its !== owner) throw new TypeError("a batch of another device");
    if (uploaded === null) throw new Error("the batch's slot has been uploaded to since");
    return uploaded;
  }

  return {
    name: `opaque-${inner.name}`,
    sharesMemory: false,
    allocate: (length) => new OpaqueArray(owner, inner.allocate(length)),
    view: (array, start, length) =>
      new OpaqueArray(owner, inner.view(inside(array), start, length)),
    write(source, target) {
      const values = inside(target);
      if (source.length !== values.length) throw new RangeError("unequal lengths");
      const copy = source.slice();
      enqueue(() => values.set(copy));
    },
    async read(source, target) {
      const values = inside(source);
      if (target.length !== values.length) throw new RangeError("unequal lengths");
      await finish();
      target.set(values);
    },
    upload(batch, slot) {
      const before = slots[slot];
      const copy = copyOf(batch);
      const uploaded: OpaqueBatch = { owner, inner: null };
      slots[slot] = uploaded;
      enqueue(() => {
        if (before) before.inner = null;
        uploaded.inner = inner.upload(copy, slot);
      });
      return uploaded;
    },
    gather(batch, layer, activation, out) {
      const [own, to] = [layerInside(layer), inside(out)];
      enqueue(() => inner.gather(batchInside(batch), own, activation, to));
    },
    dense(rows, input, layer, activation, out) {
      const [from, own, to] = [inside(input), layerInside(layer), inside(out)];
      enqueue(() => inner.dense(rows, from, own, activation, to));
    },
    output(batch, hidden, layer, loss, gradient, dHidden, losses) {
      const [from, own, to] = [inside(hidden), layerInside(layer), inside(losses)];
      const target = gradient && gradientInside(gradient);
      const derivative = dHidden && inside(dHidden);
      enqueue(() => inner.output(batchInside(batch), from, own, loss, target, derivative, to));
    },
    denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput) {
      const arrays = [inside(outputs), inside(dOutputs), inside(dInput)] as const;
      const [from, own, target] = [inside(input), layerInside(layer), gradientInside(gradient)];
      const [out, dOut, dIn] = arrays;
      enqueue(() => inner.denseBackward(rows, from, own, activation, out, dOut, target, dIn));
    },
    scatter(batch, layer, activation, outputs, dOutputs, gradient) {
      const [out, dOut] = [inside(outputs), inside(dOutputs)];
      const [own, target] = [layerInside(layer), gradientInside(gradient)];
      enqueue(() => inner.scatter(batchInside(batch), own, activation, out, dOut, target));
    },
    async topK(rows, hidden, layer, k, ids, logits, logSumExp) {
      const [from, own] = [inside(hidden), layerInside(layer)];
      await finish();
      await inner.topK(rows, from, own, k, ids, logits, logSumExp);
    },
    blend(target, terms) {
      const to = inside(target);
      const sources = terms.map(({ coefficient, source }) => ({
        coefficient,
        source: inside(source),
      }));
      enqueue(() => inner.blend(to, sources));
    },
    async dispose() {
      await finish();
      disposed = true;
      await inner.dispose();
    },
    isDisposed: () => disposed,
  };
}

function copyOf(batch: Batch): Batch {
  return {
    rows: batch.rows,
    offsets: batch.offsets.slice(),
    indices: batch.indices.slice(),
    values: batch.values.slice(),
    labelOffsets: batch.labelOffsets.slice(),
    labels: batch.labels.slice(),
  };
}
