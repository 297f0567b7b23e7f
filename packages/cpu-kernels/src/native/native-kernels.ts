import type {
  Activation,
  Batch,
  GradientTarget,
  Kernels,
  Layer,
  Loss,
  UpdateRule,
} from "@heterosgd/model";
import { CpuKernelsError } from "../errors.js";
import type { GradientArguments, LayerArguments } from "./addon.js";
import { allocateOnHugePages } from "./native-memory.js";
import { instructionSets, nativeSettings, type NativeKernelsOptions } from "./native-support.js";

const activations: readonly Activation[] = ["relu", "sigmoid", "tanh"];
const losses: readonly Loss[] = ["softmax", "sigmoid"];
const rules: readonly UpdateRule["name"][] = ["adagrad", "adam"];

export interface NativeKernels extends Kernels {
  /** Bytes of work buffers that they hold now. */
  readonly workBytes: () => number;
}

/**
 * The Kernels contract in C++: the operations at the speed of the processor, in place on any
 * `Float32Array`, shared by several threads or not. A batch is copied and checked when it is
 * uploaded. Work buffers are made at first use, grow with the largest batch, and are kept.
 *
 * Equal calls give equal results to the last bit, but for `trainMicroBatches` on several threads,
 * which is Hogwild. With another number of threads sums over them run in another order.
 *
 * @throws CpuKernelsError NATIVE_UNAVAILABLE, ISA_UNSUPPORTED, KERNEL_ARGUMENT, KERNEL_MEMORY
 */
export function createNativeKernels(options: NativeKernelsOptions = {}): NativeKernels {
  const { addon, threads, isa, bf16, keptBytes } = nativeSettings(options);
  const handle = addon.create(threads, instructionSets.indexOf(isa), bf16, keptBytes);
  const uploaded: [Batch | undefined, Batch | undefined] = [undefined, undefined];
  let disposed = false;

  function slotOf(batch: Batch): number {
    if (disposed) throw new CpuKernelsError("KERNEL_DISPOSED", "The kernels were disposed.");
    const slot = uploaded.indexOf(batch);
    if (slot < 0) {
      throw new CpuKernelsError(
        "KERNEL_BATCH",
        "The batch is not in a slot: it was not uploaded to these kernels, or another took its place.",
      );
    }
    return slot;
  }

  return {
    name: `native-${isa}${bf16 ? "-bf16" : ""}`,
    sharesMemory: true,

    allocate: allocateOnHugePages,
    view(array, start, length) {
      const isWhole = Number.isSafeInteger(start) && Number.isSafeInteger(length);
      if (!(isWhole && start >= 0 && length >= 0 && start + length <= array.length)) {
        throw new CpuKernelsError(
          "KERNEL_ARGUMENT",
          `A view of ${length} elements from ${start} on is none of ${array.length} elements.`,
        );
      }
      return array.subarray(start, start + length);
    },
    write(source, target) {
      checkEqualLengths(source, target);
      target.set(source);
    },
    read(source, target) {
      checkEqualLengths(source, target);
      target.set(source);
    },

    upload(batch, slot) {
      const { rows, offsets, indices, values, labelOffsets, labels } = batch;
      uploaded[slot] = undefined;
      addon.upload(handle, slot, rows, offsets, indices, values, labelOffsets, labels);
      const token = { rows, offsets, indices, values, labelOffsets, labels };
      uploaded[slot] = token;
      return token;
    },

    gather(batch, layer, activation, out) {
      const own = indexIn(activations, activation, "activation");
      addon.gather(handle, slotOf(batch), ...layerArguments(layer), own, out);
    },

    dense(rows, input, layer, activation, out) {
      const own = indexIn(activations, activation, "activation");
      addon.dense(handle, rows, input, ...layerArguments(layer), own, out);
    },

    output(batch, hidden, layer, loss, gradient, dHidden, lossesOut) {
      const own = indexIn(losses, loss, "loss");
      addon.output(
        ...([handle, slotOf(batch), hidden] as const),
        ...layerArguments(layer),
        own,
        ...gradientArguments(gradient),
        dHidden,
        lossesOut,
      );
    },

    denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput) {
      const own = indexIn(activations, activation, "activation");
      addon.denseBackward(
        ...([handle, rows, input] as const),
        ...layerArguments(layer),
        ...([own, outputs, dOutputs] as const),
        ...gradientArguments(gradient),
        dInput,
      );
    },

    scatter(batch, layer, activation, outputs, dOutputs, gradient) {
      const own = indexIn(activations, activation, "activation");
      addon.scatter(
        ...([handle, slotOf(batch)] as const),
        ...layerArguments(layer),
        ...([own, outputs, dOutputs] as const),
        ...gradientArguments(gradient),
      );
    },

    topK(rows, hidden, layer, k, ids, logits, logSumExp) {
      addon.topK(
        ...([handle, rows, hidden] as const),
        ...layerArguments(layer),
        ...([k, ids, logits, logSumExp] as const),
      );
    },

    blend(target, terms) {
      const flat = terms.flatMap(({ coefficient, source }) => [coefficient, source]);
      addon.blend(handle, target, ...flat);
    },

    trainMicroBatches(batch, layers, activation, loss, rows, learningRate, lossesOut) {
      const ownActivation = indexIn(activations, activation, "activation");
      const ownLoss = indexIn(losses, loss, "loss");
      const flat = layers.flatMap((layer): (Float32Array | number)[] => [...layerArguments(layer)]);
      const slot = slotOf(batch);
      addon.trainMicroBatches(
        ...([handle, slot, ownActivation, ownLoss, rows, learningRate, lossesOut] as const),
        ...flat,
      );
    },

    workBytes: () => addon.workBytes(handle),

    dispose() {
      if (disposed) return;
      disposed = true;
      addon.dispose(handle);
    },
  };
}

function indexIn<T extends string>(names: readonly T[], name: T, what: string): number {
  const index = names.indexOf(name);
  if (index >= 0) return index;
  throw new CpuKernelsError(
    "KERNEL_ARGUMENT",
    `The ${what} is ${JSON.stringify(name)}, expected one of ${names.join(", ")}.`,
  );
}

function layerArguments({ weights, bias, inputs, outputs }: Layer): LayerArguments {
  return [weights, bias, inputs, outputs];
}

const noArrays = [undefined, undefined, undefined, undefined, undefined, undefined] as const;
const noGradient: GradientArguments = [0, 0, 0, 0, 0, 0, 0, ...noArrays];

function gradientArguments(gradient: GradientTarget | null): GradientArguments {
  if (gradient === null) return noGradient;
  const { kind, scale, target } = gradient;
  if (kind === "add") {
    const { weights, bias } = target;
    return [1, scale, 0, 0, 0, 0, 0, weights, bias, undefined, undefined, undefined, undefined];
  }
  const { rule, learningRate, step, state } = gradient;
  indexIn(rules, rule.name, "gradient's rule");
  const [first, second] = state;
  const arrays = [
    target.weights,
    target.bias,
    first?.weights,
    first?.bias,
    second?.weights,
    second?.bias,
  ] as const;
  if (rule.name === "adagrad") return [2, scale, learningRate, rule.epsilon, 0, 0, step, ...arrays];
  const { epsilon, beta1, beta2 } = rule;
  return [3, scale, learningRate, epsilon, beta1, beta2, step, ...arrays];
}

function checkEqualLengths(source: Float32Array, target: Float32Array): void {
  if (source.length === target.length) return;
  throw new CpuKernelsError(
    "KERNEL_ARRAY",
    `${source.length} elements can't be copied into ${target.length}.`,
  );
}
