/** The Kernels contract over any driver. */
import type { Activation, Kernels, Loss } from "@heterosgd/model";
import { equalLengths, fail, hostArray, numberOf, whole } from "../checks.js";
import type { GpuDriver, GpuPointer } from "../driver.js";
import { createArrays, type GpuArray } from "./arrays.js";
import { createBatchSlots, type GpuBatch } from "./batch-slot.js";
import { createBlend } from "./blend.js";
import { readGradient } from "./gradient.js";
import { createLauncher, pointer, u32 } from "./launch.js";
import { createOutput, createOutputRoom, type OutputBudget } from "./output.js";
import { createProducts } from "./products.js";
import { createScratch } from "./scratch.js";
import { createTopK } from "./top-k.js";

/** Kernels on a device, and what they keep there. */
export interface GpuKernels extends Kernels<GpuArray, GpuBatch> {
  /** `cuda-cublas` where cuBLAS makes the products of dense layers. */
  readonly name: "cuda" | "cuda-cublas" | "opencl";
  /** As the driver names the device. */
  readonly device: string;
  /** Bytes that they have taken for their own work so far, on the device. */
  readonly workBytes: () => number;
}

/** As `activation.cu` and `loss.cu` know them. */
const activationNumbers: Readonly<Record<Activation, number>> = { relu: 0, sigmoid: 1, tanh: 2 };
const lossNumbers: Readonly<Record<Loss, number>> = { softmax: 0, sigmoid: 1 };

const activationNumber = (operation: string, activation: Activation): number =>
  numberOf(operation, "activation", activationNumbers, activation);

export function kernelsOver(driver: GpuDriver, budget: OutputBudget): GpuKernels {
  const scratch = createScratch(driver);
  const launcher = createLauncher(driver);
  const arrays = createArrays(driver);
  const slots = createBatchSlots(driver, scratch);
  const products = createProducts(launcher, scratch, driver.products);
  const room = createOutputRoom(scratch);
  const outputLayer = createOutput(launcher, products, scratch, room, budget);
  const rank = createTopK(driver, launcher, products, scratch, room, budget.blockBytes);
  const blend = createBlend(arrays, launcher);
  let disposed = false;

  function alive(operation: string): void {
    if (disposed) fail("KERNEL_DISPOSED", operation, "the kernels were disposed");
  }

  function multiplyByDerivative(
    count: number,
    activation: number,
    outputs: GpuPointer,
    dOutputs: GpuPointer,
  ): void {
    launcher.overElements("multiply_by_derivative", count, [
      pointer(outputs),
      pointer(dOutputs),
      u32(count),
      u32(activation),
    ]);
  }

  return {
    name: driver.products === null ? driver.technology : "cuda-cublas",
    device: driver.name,
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
      driver.write(source, place, "compute");
    },

    read(source, target) {
      alive("read");
      const place = arrays.place("read", "source", source, 0);
      hostArray("read", "target", target, Float32Array, 0);
      equalLengths("read", source.length, target.length);
      return driver.read(place, target);
    },

    upload(batch, slot) {
      alive("upload");
      return slots.upload(batch, slot);
    },

    gather(batch, layer, activation, out) {
      alive("gather");
      const own = arrays.layer("gather", layer);
      const number = activationNumber("gather", activation);
      const { place, checkFeatures } = slots.use("gather", batch);
      checkFeatures("gather", own.inputs);
      const { rows } = place;
      const target = arrays.place("gather", "out", out, rows * own.outputs);
      launcher.overUnits("gather", rows, own.outputs, [
        pointer(place.offsets),
        pointer(place.indices),
        pointer(place.values),
        pointer(own.weights),
        pointer(own.bias),
        pointer(target),
        u32(rows),
        u32(own.outputs),
        u32(number),
      ]);
    },

    dense(rows, input, layer, activation, out) {
      alive("dense");
      whole("dense", "rows", rows, 1);
      const own = arrays.layer("dense", layer);
      const number = activationNumber("dense", activation);
      const source = arrays.place("dense", "input", input, rows * own.inputs);
      const target = arrays.place("dense", "out", out, rows * own.outputs);
      products.forward(rows, source, own, 0, own.outputs, number, target);
    },

    output(batch, hidden, layer, loss, gradient, dHidden, losses) {
      alive("output");
      const own = arrays.layer("output", layer);
      numberOf("output", "loss", lossNumbers, loss);
      const used = slots.use("output", batch);
      used.checkLabels("output", own.outputs);
      const { rows } = used.place;
      const width = rows * own.inputs;
      outputLayer({
        batch: used.place,
        hidden: arrays.place("output", "hidden", hidden, width),
        layer: own,
        loss,
        update: gradient === null ? null : readGradient(arrays, "output", gradient, own),
        dHidden: dHidden === null ? null : arrays.place("output", "dHidden", dHidden, width),
        losses: arrays.place("output", "losses", losses, rows),
      });
    },

    denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput) {
      const operation = "denseBackward";
      alive(operation);
      whole(operation, "rows", rows, 1);
      const own = arrays.layer(operation, layer);
      const number = activationNumber(operation, activation);
      const { inputs, outputs: units } = own;
      const source = arrays.place(operation, "input", input, rows * inputs);
      const values = arrays.place(operation, "outputs", outputs, rows * units);
      const derivatives = arrays.place(operation, "dOutputs", dOutputs, rows * units);
      const back = arrays.place(operation, "dInput", dInput, rows * inputs);
      const update = readGradient(arrays, operation, gradient, own);
      multiplyByDerivative(rows * units, number, values, derivatives);
      products.backward(rows, derivatives, own, 0, units, false, back);
      products.update(rows, derivatives, source, inputs, 0, units, update);
    },

    scatter(batch, layer, activation, outputs, dOutputs, gradient) {
      alive("scatter");
      const own = arrays.layer("scatter", layer);
      const number = activationNumber("scatter", activation);
      const used = slots.use("scatter", batch);
      used.checkFeatures("scatter", own.inputs);
      const { rows } = used.place;
      const units = own.outputs;
      const values = arrays.place("scatter", "outputs", outputs, rows * units);
      const derivatives = arrays.place("scatter", "dOutputs", dOutputs, rows * units);
      const update = readGradient(arrays, "scatter", gradient, own);
      multiplyByDerivative(rows * units, number, values, derivatives);
      const found = used.byFeature();
      launcher.overUnits("scatter", found.count, units, [
        pointer(found.features),
        pointer(found.starts),
        pointer(found.entryRows),
        pointer(found.entryValues),
        pointer(derivatives),
        u32(found.count),
        u32(units),
        ...update.of("weights"),
      ]);
      products.updateBias(rows, derivatives, 0, units, update);
    },

    topK(rows, hidden, layer, k, ids, logits, logSumExp) {
      alive("topK");
      whole("topK", "rows", rows, 1);
      const own = arrays.layer("topK", layer);
      whole("topK", "k", k, 1, own.outputs);
      hostArray("topK", "ids", ids, Uint32Array, rows * k);
      hostArray("topK", "logits", logits, Float32Array, rows * k);
      hostArray("topK", "logSumExp", logSumExp, Float32Array, rows);
      const source = arrays.place("topK", "hidden", hidden, rows * own.inputs);
      return rank({ rows, hidden: source, layer: own, k, ids, logits, logSumExp });
    },

    blend(target, terms) {
      alive("blend");
      blend(target, terms);
    },

    workBytes() {
      alive("workBytes");
      return scratch.bytes() + (driver.products?.workBytes ?? 0);
    },

    dispose() {
      if (disposed) return;
      disposed = true;
      driver.close();
    },
  };
}
