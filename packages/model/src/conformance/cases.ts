import { createRandom } from "@heterosgd/sparse";
import type { DeviceArray, Kernels } from "../kernels/contract.js";
import { activations, losses } from "../network/shape.js";
import { createBench, type Bench } from "./bench.js";
import { largeTopK, smallTopK, topK, topKBreaksTies } from "./inference.js";
import {
  blendAgrees,
  blendsInParts,
  largeLogitsStayFinite,
  memoryHolds,
  slotsAreIndependent,
} from "./memory.js";
import { activationsKeepNaN, lossesShowNaN, topKShowsNaN } from "./not-finite.js";
import { dense, denseBackward, gather, output, scatter } from "./operations.js";
import {
  atShapes,
  backwardShapes,
  largeDense,
  largeOutput,
  largeSparse,
  small,
  smallDense,
  smallOutput,
  smallSparse,
  withEveryGradient,
  withSomeGradient,
} from "./shapes.js";
import { microBatchesAgree, stepsAgree } from "./steps.js";

/** One named check; `run` throws an `Error` that says what differs, and for which inputs. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

export interface ConformanceOptions {
  /** Largest error allowed, relative to the largest entry of the expected array. Default 1e-4. */
  readonly tolerance?: number;
  /**
   * Unit roundoff of the factors of an output layer's products, for kernels that round them: 2 ** −8
   * in bfloat16. What it may take results off by is allowed where that is more than the tolerance
   * allows. Default: 2 ** −24, that of float32.
   */
  readonly roundoff?: number;
  /** Seed of the inputs, named in every failure. Default: another one each time. */
  readonly seed?: number;
  /**
   * Whether `trainMicroBatches` runs its steps in order, which kernels on several threads need not:
   * then only calls of one step are compared. Default true.
   */
  readonly microBatchesInOrder?: boolean;
}

/**
 * The suite that every implementation of `Kernels` must pass: all operations against the plain
 * kernels in float64, on random inputs, over odd and large shapes, both losses, all activations and
 * every kind of gradient target. A case that the kernels lack the operation for (`trainMicroBatches`
 * is optional) passes.
 *
 * @param create - makes the kernels; called once in each case, which disposes them at its end.
 *
 * @example
 * for (const { name, run } of kernelsConformance(createMyKernels)) test(name, run);
 */
export function kernelsConformance<A extends DeviceArray, U>(
  create: () => Kernels<A, U> | Promise<Kernels<A, U>>,
  {
    tolerance = 1e-4,
    roundoff = 2 ** -24,
    seed = Math.floor(Math.random() * 2 ** 32),
    microBatchesInOrder = true,
  }: ConformanceOptions = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (
    name: string,
    check: (bench: Bench<A, U>) => Promise<void>,
    guarded = false,
  ): void => {
    const random = createRandom(seed, cases.length);
    cases.push({
      name,
      async run() {
        const kernels = await create();
        try {
          await check(createBench(kernels, random, { tolerance, roundoff, guarded }));
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          throw new Error(`${name}: ${message} (seed ${seed})`, { cause: error });
        } finally {
          await kernels.dispose();
        }
      },
    });
  };

  // Arrays lie anywhere in longer ones, whose other elements must stay as they are.
  const addGuarded = (name: string, check: (bench: Bench<A, U>) => Promise<void>): void =>
    add(name, check, true);

  add("memory is zeroed, viewed, written and read", memoryHolds);
  add("a batch stays in its slot while the other is uploaded to", slotsAreIndependent);
  for (const activation of activations) {
    add(`gather with ${activation}`, atShapes(gather, smallSparse(activation)));
    add(`dense with ${activation}`, atShapes(dense, smallDense(activation)));
    add(
      `dense backward with ${activation}`,
      atShapes(denseBackward, withEveryGradient(backwardShapes(activation))),
    );
    add(
      `scatter with ${activation}`,
      atShapes(scatter, withEveryGradient(smallSparse(activation))),
    );
  }
  addGuarded("gather at large shapes", atShapes(gather, largeSparse));
  addGuarded("dense at large shapes", atShapes(dense, largeDense));
  addGuarded(
    "dense backward at large shapes",
    atShapes(denseBackward, withSomeGradient(largeDense)),
  );
  addGuarded("scatter at large shapes", atShapes(scatter, withSomeGradient(largeSparse)));
  add("NaN comes through activations", activationsKeepNaN);
  for (const loss of losses) {
    for (const units of small.units) {
      add(`output with ${loss} over ${units} units`, atShapes(output, smallOutput(loss, units)));
    }
    addGuarded(`output with ${loss} at large shapes`, atShapes(output, largeOutput(loss)));
    add(`large logits with ${loss}`, largeLogitsStayFinite(loss));
    add(`NaN and infinity show in losses with ${loss}`, lossesShowNaN(loss));
    add(`training steps with ${loss}`, stepsAgree(loss));
    add(`micro-batches with ${loss}`, microBatchesAgree(loss, microBatchesInOrder));
  }
  add("top k", atShapes(topK, smallTopK));
  addGuarded("top k at large shapes", atShapes(topK, largeTopK));
  add("top k with equal logits", topKBreaksTies);
  add("NaN and infinity show in top k", topKShowsNaN);
  addGuarded("blend", blendAgrees);
  add("blend in parts", blendsInParts);
  return cases;
}
