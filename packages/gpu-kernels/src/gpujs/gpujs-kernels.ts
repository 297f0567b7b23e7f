import type { Activation, Loss } from "@heterosgd/model";
import { equalLengths, checkOptions, fail, hostArray, numberOf, whole } from "../checks.js";
import type { GpujsKernels, GpujsMode } from "./api.js";
import { checkUnits, createArrays } from "./arrays.js";
import { createBatchSlots } from "./batch-slot.js";
import { createBlend } from "./blend.js";
import { openComputer } from "./computer.js";
import { createDenseLayer } from "./dense.js";
import { createFirstLayer } from "./first-layer.js";
import type { GpuClass } from "./gpu-class.js";
import { readGradient } from "./gradient.js";
import { defaultKeptBytes } from "./memory.js";
import { createOutputLayer } from "./output.js";
import { createTopK } from "./top-k.js";
import { warmUp } from "./warm-up.js";

export interface GpujsKernelsOptions {
  /** gpu.js's class `GPU`: `import { GPU } from "gpu.js"`. */
  readonly GPU: GpuClass;
  readonly mode: GpujsMode;
  /**
   * Bytes of scores that the softmax may keep between its passes. A batch with more has them
   * computed twice. Default 256 MiB.
   */
  readonly keptBytes?: number;
}

const optionNames = ["GPU", "mode", "keptBytes"] as const;
const modes: Readonly<Record<GpujsMode, number>> = {
  headlessgl: 0,
  webgl: 1,
  webgl2: 2,
  webasm: 3,
  cpu: 4,
};
const activations: Readonly<Record<Activation, number>> = { relu: 0, sigmoid: 1, tanh: 2 };
const losses: Readonly<Record<Loss, number>> = { softmax: 0, sigmoid: 1 };

/**
 * The Kernels contract by gpu.js, in a browser or in Node, on whatever `mode` names and nothing else.
 * Dense parameters, gradients and activations stay in textures; the first layer's weights and its
 * optimiser's state stay in host memory, for gpu.js can't scatter. Equal calls on one device give
 * equal results to the last bit.
 *
 * In Node, call `openGpujsKernels` of the main entry instead: headless-gl has to be loaded in a way of its own.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE, GPU_DRIVER, KERNEL_ARGUMENT. Operations throw
 * KERNEL_ARRAY, KERNEL_BATCH, KERNEL_ARGUMENT and KERNEL_DISPOSED before they change anything, and
 * GPU_MEMORY, GPU_LOST and GPU_DRIVER when WebGL says so, which may be as late as the next reading.
 */
export function createGpujsKernels(options: GpujsKernelsOptions): GpujsKernels {
  const operation = "createGpujsKernels";
  checkOptions(operation, options, optionNames);
  const { GPU, mode, keptBytes = defaultKeptBytes } = options;
  numberOf(operation, "mode", modes, mode);
  whole(operation, "keptBytes", keptBytes, 0);
  if (typeof GPU !== "function") {
    fail("KERNEL_ARGUMENT", operation, `GPU is ${String(GPU)}, expected the class GPU of gpu.js`);
  }
  const computer = openComputer(GPU, mode);
  const arrays = createArrays(computer);
  const slots = createBatchSlots();
  const first = createFirstLayer(computer, arrays);
  const denseLayer = createDenseLayer(computer, arrays);
  const outputLayer = createOutputLayer(computer, arrays, keptBytes);
  const rank = createTopK(computer, arrays);
  const blend = createBlend(arrays);
  let closed: Promise<void> | undefined;

  function alive(name: string): void {
    if (closed !== undefined) fail("KERNEL_DISPOSED", name, "the kernels were disposed");
    arrays.settle();
  }

  const kernels: GpujsKernels = {
    name: `gpujs-${mode}`,
    mode,
    device: computer.device,
    sharesMemory: false,

    allocate(length) {
      alive("allocate");
      return arrays.allocate(length);
    },

    view(array, start, length) {
      alive("view");
      return arrays.view(array, start, length);
    },

    write(source, target) {
      alive("write");
      hostArray("write", "source", source, Float32Array, 0);
      const place = arrays.place("write", "target", target, 0);
      equalLengths("write", source.length, target.length);
      arrays.replaceOnHost(place).set(source);
    },

    read(source, target) {
      alive("read");
      const place = arrays.place("read", "source", source, 0);
      hostArray("read", "target", target, Float32Array, 0);
      equalLengths("read", source.length, target.length);
      target.set(arrays.onHost(place));
    },

    upload(batch, slot) {
      alive("upload");
      return slots.upload(batch, slot);
    },

    gather(batch, layer, activation, out) {
      alive("gather");
      const own = arrays.layer("gather", layer);
      checkUnits("gather", "layer.outputs", own.outputs);
      numberOf("gather", "activation", activations, activation);
      const held = slots.use("gather", batch);
      held.checkFeatures("gather", own.inputs);
      const target = arrays.place("gather", "out", out, held.rows * own.outputs);
      first.gather(held, own, activation, target);
    },

    dense(rows, input, layer, activation, out) {
      alive("dense");
      whole("dense", "rows", rows, 1);
      const own = arrays.layer("dense", layer);
      checkUnits("dense", "layer.inputs", own.inputs);
      checkUnits("dense", "layer.outputs", own.outputs);
      numberOf("dense", "activation", activations, activation);
      const source = arrays.place("dense", "input", input, rows * own.inputs);
      const target = arrays.place("dense", "out", out, rows * own.outputs);
      denseLayer.forward(rows, source, own, activation, target);
    },

    output(batch, hidden, layer, loss, gradient, dHidden, lossArray) {
      const name = "output";
      alive(name);
      const own = arrays.layer(name, layer);
      checkUnits(name, "layer.inputs", own.inputs);
      numberOf(name, "loss", losses, loss);
      const held = slots.use(name, batch);
      held.checkLabels(name, own.outputs);
      const width = held.rows * own.inputs;
      outputLayer({
        batch: held,
        hidden: arrays.place(name, "hidden", hidden, width),
        layer: own,
        loss,
        update: gradient === null ? null : readGradient(computer, arrays, name, gradient, own),
        dHidden: dHidden === null ? null : arrays.place(name, "dHidden", dHidden, width),
        losses: arrays.place(name, "losses", lossArray, held.rows),
      });
    },

    denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput) {
      const name = "denseBackward";
      alive(name);
      whole(name, "rows", rows, 1);
      const own = arrays.layer(name, layer);
      checkUnits(name, "layer.inputs", own.inputs);
      checkUnits(name, "layer.outputs", own.outputs);
      numberOf(name, "activation", activations, activation);
      const inputLength = rows * own.inputs;
      const outputLength = rows * own.outputs;
      denseLayer.backward(
        rows,
        arrays.place(name, "input", input, inputLength),
        own,
        activation,
        arrays.place(name, "outputs", outputs, outputLength),
        arrays.place(name, "dOutputs", dOutputs, outputLength),
        readGradient(computer, arrays, name, gradient, own),
        arrays.place(name, "dInput", dInput, inputLength),
      );
    },

    scatter(batch, layer, activation, outputs, dOutputs, gradient) {
      const name = "scatter";
      alive(name);
      const own = arrays.layer(name, layer);
      checkUnits(name, "layer.outputs", own.outputs);
      numberOf(name, "activation", activations, activation);
      const held = slots.use(name, batch);
      held.checkFeatures(name, own.inputs);
      const length = held.rows * own.outputs;
      first.scatter(
        held,
        own.outputs,
        activation,
        arrays.place(name, "outputs", outputs, length),
        arrays.place(name, "dOutputs", dOutputs, length),
        readGradient(computer, arrays, name, gradient, own),
      );
    },

    topK(rows, hidden, layer, k, ids, logits, logSumExp) {
      alive("topK");
      whole("topK", "rows", rows, 1);
      const own = arrays.layer("topK", layer);
      checkUnits("topK", "layer.inputs", own.inputs);
      whole("topK", "k", k, 1, own.outputs);
      hostArray("topK", "ids", ids, Uint32Array, rows * k);
      hostArray("topK", "logits", logits, Float32Array, rows * k);
      hostArray("topK", "logSumExp", logSumExp, Float32Array, rows);
      const source = arrays.place("topK", "hidden", hidden, rows * own.inputs);
      rank({ rows, hidden: source, layer: own, k, ids, logits, logSumExp });
    },

    blend(target, terms) {
      alive("blend");
      blend(target, terms);
    },

    async warm(layout, limits) {
      alive("warm");
      const release = arrays.note();
      try {
        await warmUp(kernels, layout, limits);
      } finally {
        release();
      }
    },

    deviceUse() {
      alive("deviceUse");
      return computer.use();
    },

    dispose() {
      closed ??= computer.close();
      return closed;
    },
  };
  return kernels;
}
