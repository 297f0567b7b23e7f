import type { Batch, Kernels } from "@heterosgd/model";
import { checkOptions, fail, finite, hostArray, requireObject, whole } from "../checks.js";
import {
  activationNumber,
  createArgumentReader,
  lossNumber,
  type LayerPlace,
} from "./arguments.js";
import { createBatchSlot, createLabelOrder, type BatchSlot, type RowsPlace } from "./batch-slot.js";
import { allocateInWasmMemory, checkMemory, createWasmMemory } from "./memory.js";
import { createMicroBatches } from "./micro-batches.js";
import { instantiate } from "./module.js";
import { createOperations } from "./operations.js";
import { createScratch } from "./scratch.js";
import { defaultKeptBytes } from "./sizes.js";

export interface WasmKernelsOptions {
  /**
   * The memory that all arrays lie in; several threads' kernels may share one (made by
   * `createWasmMemory`). Default: one of their own.
   */
  readonly memory?: WebAssembly.Memory;
  /** Bytes for exponentials kept between the softmax's passes. Default 256 MiB. */
  readonly keptBytes?: number;
}

/** Kernels that tell what they keep. */
export interface WasmKernels extends Kernels {
  /** Bytes that they have taken for their own work so far. */
  readonly workBytes: () => number;
}

/**
 * The Kernels contract in WebAssembly SIMD, on the calling thread. Equal calls give equal results to
 * the last bit.
 *
 * All arrays must lie in the kernels' memory, at most 4 GiB with the work buffers. Work buffers are
 * taken at first use for the largest batch that the uploaded arrays have room for, and kept. A
 * memory of their own goes with the kernels when they are disposed; in a shared one, what they took
 * stays taken.
 *
 * @throws CpuKernelsError WASM_UNAVAILABLE, KERNEL_ARGUMENT, KERNEL_MEMORY. Operations throw KERNEL_ARRAY, KERNEL_BATCH,
 * KERNEL_ARGUMENT, KERNEL_MEMORY and KERNEL_DISPOSED, before they change anything.
 */
export function createWasmKernels(options: WasmKernelsOptions = {}): WasmKernels {
  checkOptions("createWasmKernels", options, ["memory", "keptBytes"]);
  const { memory: given, keptBytes = defaultKeptBytes } = options;
  whole("createWasmKernels", "keptBytes", keptBytes, 0);
  if (given !== undefined) checkMemory(given);
  return kernelsOver(open(given ?? createWasmMemory(), keptBytes));
}

type State = ReturnType<typeof open>;

function open(memory: WebAssembly.Memory, keptBytes: number) {
  const wasm = instantiate(memory);
  const scratch = createScratch(memory);
  const counters = scratch.buffer();
  const capacity = { rows: 0, nonZeros: 0, labels: 0 };
  const order = createLabelOrder(wasm, scratch, counters, capacity);
  const operations = createOperations(wasm, scratch, counters, capacity, keptBytes);
  return {
    memory,
    wasm,
    scratch,
    operations,
    read: createArgumentReader(memory, wasm),
    slots: [
      createBatchSlot(memory, scratch, capacity, order),
      createBatchSlot(memory, scratch, capacity, order),
    ] as const,
    microBatches: createMicroBatches(wasm, scratch, capacity, operations, order),
    blendTable: scratch.buffer(),
  };
}

function kernelsOver(opened: State): WasmKernels {
  let held: State | undefined = opened;

  function use(operation: string): State {
    if (held === undefined) fail("KERNEL_DISPOSED", operation, "the kernels were disposed");
    return held;
  }

  function slotOf(operation: string, batch: Batch): BatchSlot {
    for (const slot of use(operation).slots) if (slot.batch() === batch) return slot;
    fail(
      "KERNEL_BATCH",
      operation,
      "the batch is in no slot: upload of these kernels did not return it, or another took its place",
    );
  }

  return {
    name: "wasm",
    sharesMemory: true,
    workBytes: () => use("workBytes").scratch.bytes(),

    allocate: (length) => allocateInWasmMemory(use("allocate").memory, length),

    view(array, start, length) {
      use("view");
      hostArray("view", "array", array, Float32Array, 0);
      whole("view", "start", start, 0, array.length);
      whole("view", "length", length, 0, array.length - start);
      return array.subarray(start, start + length);
    },

    write(source, target) {
      use("write").read.floats("write", "target", target, 0);
      copy("write", source, target);
    },

    read(source, target) {
      use("read").read.floats("read", "source", source, 0);
      copy("read", source, target);
    },

    upload(batch, slot) {
      const { slots } = use("upload");
      return slots[whole("upload", "slot", slot, 0, 1) as 0 | 1].fill(batch);
    },

    gather(batch, layer, activation, out) {
      const { read, operations } = use("gather");
      const { place } = slotOf("gather", batch);
      const own = read.layer("gather", layer);
      checkFeatures("gather", place, own);
      const number = activationNumber("gather", activation);
      const outAt = read.floats("gather", "out", out, place.rows * own.outputs);
      operations.gather(place, own, number, outAt);
    },

    dense(rows, input, layer, activation, out) {
      const { read, operations } = use("dense");
      whole("dense", "rows", rows, 1);
      const own = read.layer("dense", layer);
      const inputAt = read.floats("dense", "input", input, rows * own.inputs);
      const number = activationNumber("dense", activation);
      const outAt = read.floats("dense", "out", out, rows * own.outputs);
      operations.dense(rows, inputAt, own, number, outAt);
    },

    output(batch, hidden, layer, loss, gradient, dHidden, losses) {
      const { read, operations } = use("output");
      const { place } = slotOf("output", batch);
      const own = read.layer("output", layer);
      checkLabels("output", place, own);
      const elements = place.rows * own.inputs;
      const hiddenAt = read.floats("output", "hidden", hidden, elements);
      const number = lossNumber("output", loss);
      const dHiddenAt = dHidden === null ? 0 : read.floats("output", "dHidden", dHidden, elements);
      const lossesAt = read.floats("output", "losses", losses, place.rows);
      const kind = read.gradient("output", gradient, own);
      operations.output(place, hiddenAt, own, number, kind, dHiddenAt, lossesAt);
    },

    denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput) {
      const { read, operations } = use("denseBackward");
      const operation = "denseBackward";
      whole(operation, "rows", rows, 1);
      const own = read.layer(operation, layer);
      const inputAt = read.floats(operation, "input", input, rows * own.inputs);
      const number = activationNumber(operation, activation);
      const outputsAt = read.floats(operation, "outputs", outputs, rows * own.outputs);
      const dOutputsAt = read.floats(operation, "dOutputs", dOutputs, rows * own.outputs);
      const dInputAt = read.floats(operation, "dInput", dInput, rows * own.inputs);
      const kind = read.gradient(operation, gradient, own);
      operations.denseBackward(rows, inputAt, own, number, outputsAt, dOutputsAt, kind, dInputAt);
    },

    scatter(batch, layer, activation, outputs, dOutputs, gradient) {
      const { read, operations } = use("scatter");
      const { place } = slotOf("scatter", batch);
      const own = read.layer("scatter", layer);
      checkFeatures("scatter", place, own);
      const elements = place.rows * own.outputs;
      const number = activationNumber("scatter", activation);
      const outputsAt = read.floats("scatter", "outputs", outputs, elements);
      const dOutputsAt = read.floats("scatter", "dOutputs", dOutputs, elements);
      const kind = read.gradient("scatter", gradient, own);
      operations.scatter(place, own, number, outputsAt, dOutputsAt, kind);
    },

    topK(rows, hidden, layer, k, ids, logits, logSumExp) {
      const { read, operations, memory } = use("topK");
      whole("topK", "rows", rows, 1);
      const own = read.layer("topK", layer);
      const hiddenAt = read.floats("topK", "hidden", hidden, rows * own.inputs);
      whole("topK", "k", k, 1, own.outputs);
      hostArray("topK", "ids", ids, Uint32Array, rows * k);
      hostArray("topK", "logits", logits, Float32Array, rows * k);
      hostArray("topK", "logSumExp", logSumExp, Float32Array, rows);
      const found = operations.topK(rows, hiddenAt, own, k);
      ids.set(new Uint32Array(memory.buffer, found.ids, rows * k));
      logits.set(new Float32Array(memory.buffer, found.logits, rows * k));
      logSumExp.set(new Float32Array(memory.buffer, found.logSumExp, rows));
    },

    blend(target, terms) {
      const { read, wasm, blendTable, memory } = use("blend");
      requireObject("blend", "terms", terms);
      const targetAt = read.floats("blend", "target", target, 0);
      const table = blendTable(16 * terms.length);
      const entries = new DataView(memory.buffer, table, 16 * terms.length);
      for (const [i, term] of terms.entries()) {
        requireObject("blend", "a term", term);
        const { coefficient, source } = term;
        const sourceAt = read.floats("blend", "source", source, 0);
        if (source.length !== target.length) {
          const message = `a source has ${source.length} elements, expected ${target.length}`;
          fail("KERNEL_ARRAY", "blend", message);
        }
        entries.setFloat64(16 * i, finite("blend", "coefficient", coefficient), true);
        entries.setUint32(16 * i + 8, sourceAt, true);
      }
      wasm.blend(targetAt, target.length, terms.length, table);
    },

    trainMicroBatches(batch, layers, activation, loss, microBatchRows, learningRate, losses) {
      const operation = "trainMicroBatches";
      const { read, microBatches } = use(operation);
      const slot = slotOf(operation, batch);
      requireObject(operation, "layers", layers);
      if (layers.length < 2) {
        fail("KERNEL_ARGUMENT", operation, `there are ${layers.length} layers, expected 2 or more`);
      }
      const places = layers.map((layer) => read.layer(operation, layer));
      for (const [i, { inputs }] of places.entries()) {
        const before = places[i - 1]?.outputs ?? inputs;
        if (inputs === before) continue;
        const message = `layer ${i} has ${inputs} inputs, the one before has ${before} outputs`;
        fail("KERNEL_ARGUMENT", operation, message);
      }
      checkFeatures(operation, slot.place, places[0]!);
      checkLabels(operation, slot.place, places.at(-1)!);
      microBatches(
        slot,
        places,
        activationNumber(operation, activation),
        lossNumber(operation, loss),
        whole(operation, "microBatchRows", microBatchRows, 1),
        finite(operation, "learningRate", learningRate),
        read.floats(operation, "losses", losses, slot.place.rows),
      );
    },

    dispose() {
      held = undefined;
    },
  };
}

function copy(operation: string, source: Float32Array, target: Float32Array): void {
  hostArray(operation, "source", source, Float32Array, 0);
  hostArray(operation, "target", target, Float32Array, 0);
  if (source.length === target.length) {
    target.set(source);
    return;
  }
  const message = `${source.length} elements can't be copied into ${target.length}`;
  fail("KERNEL_ARRAY", operation, message);
}

function checkFeatures(operation: string, place: RowsPlace, layer: LayerPlace): void {
  if (place.features <= layer.inputs) return;
  const message = `the batch names feature ${place.features - 1}, the layer has ${layer.inputs} inputs`;
  fail("KERNEL_BATCH", operation, message);
}

function checkLabels(operation: string, place: RowsPlace, layer: LayerPlace): void {
  if (place.classes <= layer.outputs) return;
  const message = `the batch names label ${place.classes - 1}, the layer has ${layer.outputs} outputs`;
  fail("KERNEL_BATCH", operation, message);
}
