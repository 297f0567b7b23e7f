import type {
  Activation,
  Batch,
  GradientTarget,
  Kernels,
  Layer,
  Loss,
  UpdateRule,
} from "@heterosgd/model";
import { fail, hostArray, requireObject } from "../checks.js";
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
  const { addon, threads, isa, bf16, keptBytes } = nativeSettings("createNativeKernels", options);
  const handle = addon.create(threads, instructionSets.indexOf(isa), bf16, keptBytes);
  const uploaded: [Batch | undefined, Batch | undefined] = [undefined, undefined];
  let disposed = false;

  function use(operation: string): void {
    if (disposed) fail("KERNEL_DISPOSED", operation, "the kernels were disposed");
  }

  function slotOf(operation: string, batch: Batch): number {
    use(operation);
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

    allocate(length) {
      use("allocate");
      return allocateOnHugePages(length);
    },
    view(array, start, length) {
      use("view");
      hostArray("view", "array", array, Float32Array, 0);
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
      use("write");
      checkEqualLengths("write", source, target);
      target.set(source);
    },
    read(source, target) {
      use("read");
      checkEqualLengths("read", source, target);
      target.set(source);
    },

    upload(batch, slot) {
      use("upload");
      requireObject("upload", "batch", batch);
      const { rows, offsets, indices, values, labelOffsets, labels } = batch;
      uploaded[slot] = undefined;
      addon.upload(handle, slot, rows, offsets, indices, values, labelOffsets, labels);
      const token = { rows, offsets, indices, values, labelOffsets, labels };
      uploaded[slot] = token;
      return token;
    },

    gather(batch, layer, activation, out) {
      const own = indexIn(activations, activation, "activation");
      addon.gather(handle, slotOf("gather", batch), ...layerArguments("gather", layer), own, out);
    },

    dense(rows, input, layer, activation, out) {
      const own = indexIn(activations, activation, "activation");
      addon.dense(handle, rows, input, ...layerArguments("dense", layer), own, out);
    },

    output(batch, hidden, layer, loss, gradient, dHidden, lossesOut) {
      const own = indexIn(losses, loss, "loss");
      addon.output(
        ...([handle, slotOf("output", batch), hidden] as const),
        ...layerArguments("output", layer),
        own,
        ...gradientArguments("output", gradient),
        dHidden,
        lossesOut,
      );
    },

    denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput) {
      const own = indexIn(activations, activation, "activation");
      addon.denseBackward(
        ...([handle, rows, input] as const),
        ...layerArguments("denseBackward", layer),
        ...([own, outputs, dOutputs] as const),
        ...gradientArguments("denseBackward", gradient),
        dInput,
      );
    },

    scatter(batch, layer, activation, outputs, dOutputs, gradient) {
      const own = indexIn(activations, activation, "activation");
      addon.scatter(
        ...([handle, slotOf("scatter", batch)] as const),
        ...layerArguments("scatter", layer),
        ...([own, outputs, dOutputs] as const),
        ...gradientArguments("scatter", gradient),
      );
    },

    topK(rows, hidden, layer, k, ids, logits, logSumExp) {
      addon.topK(
        ...([handle, rows, hidden] as const),
        ...layerArguments("topK", layer),
        ...([k, ids, logits, logSumExp] as const),
      );
    },

    blend(target, terms) {
      requireObject("blend", "terms", terms);
      const flat = terms.flatMap((term) => {
        requireObject("blend", "a term", term);
        return [term.coefficient, term.source];
      });
      addon.blend(handle, target, ...flat);
    },

    trainMicroBatches(batch, layers, activation, loss, rows, learningRate, lossesOut) {
      const ownActivation = indexIn(activations, activation, "activation");
      const ownLoss = indexIn(losses, loss, "loss");
      requireObject("trainMicroBatches", "layers", layers);
      const flat = layers.flatMap((layer): (Float32Array | number)[] => [
        ...layerArguments("trainMicroBatches", layer),
      ]);
      const slot = slotOf("trainMicroBatches", batch);
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

function layerArguments(operation: string, layer: Layer): LayerArguments {
  requireObject(operation, "layer", layer);
  const { weights, bias, inputs, outputs } = layer;
  return [weights, bias, inputs, outputs];
}

const noArrays = [undefined, undefined, undefined, undefined, undefined, undefined] as const;
const noGradient: GradientArguments = [0, 0, 0, 0, 0, 0, 0, ...noArrays];

function gradientArguments(operation: string, gradient: GradientTarget | null): GradientArguments {
  if (gradient === null) return noGradient;
  requireObject(operation, "gradient", gradient);
  const { kind, scale, target } = gradient;
  requireObject(operation, "gradient.target", target);
  if (kind === "add") {
    const { weights, bias } = target;
    return [1, scale, 0, 0, 0, 0, 0, weights, bias, undefined, undefined, undefined, undefined];
  }
  const { rule, learningRate, step, state } = gradient;
  requireObject(operation, "gradient.rule", rule);
  requireObject(operation, "gradient.state", state);
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

function checkEqualLengths(operation: string, source: Float32Array, target: Float32Array): void {
  hostArray(operation, "source", source, Float32Array, 0);
  hostArray(operation, "target", target, Float32Array, 0);
  if (source.length === target.length) return;
  throw new CpuKernelsError(
    "KERNEL_ARRAY",
    `${source.length} elements can't be copied into ${target.length}.`,
  );
}
