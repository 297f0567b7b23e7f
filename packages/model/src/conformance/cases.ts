import { createRandom } from "@heterosgd/sparse";
import type { DeviceArray, Kernels } from "../kernels/contract.js";
import { activations, losses } from "../network/shape.js";
import { createBench, type Bench } from "./bench.js";
import { topKAgrees, topKBreaksTies } from "./inference.js";
import { blendAgrees, largeLogitsStayFinite, memoryHolds, slotsAreIndependent } from "./memory.js";
import {
  denseAgrees,
  denseBackwardAgrees,
  gatherAgrees,
  outputAgrees,
  scatterAgrees,
  unitCounts,
} from "./operations.js";
import { stepsAgree } from "./steps.js";

/** One named check; `run` throws an `Error` that says what differs, and for which inputs. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

export interface ConformanceOptions {
  /** Largest error allowed, relative to the largest entry of the expected array. Default 1e-4. */
  readonly tolerance?: number;
  /** Seed of the inputs, named in every failure. Default: another one each time. */
  readonly seed?: number;
}

/**
 * The suite that every implementation of `Kernels` must pass: all operations against the plain
 * kernels in float64, on random inputs, over odd shapes, both losses, all activations and every
 * kind of gradient target.
 *
 * @param create - makes the kernels; called once in each case, which disposes them at its end.
 *
 * @example
 * for (const { name, run } of kernelsConformance(createMyKernels)) test(name, run);
 */
export function kernelsConformance<A extends DeviceArray, U>(
  create: () => Kernels<A, U> | Promise<Kernels<A, U>>,
  { tolerance = 1e-4, seed = Math.floor(Math.random() * 2 ** 32) }: ConformanceOptions = {},
): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const add = (name: string, check: (bench: Bench<A, U>) => Promise<void>): void => {
    const random = createRandom(seed, cases.length);
    cases.push({
      name,
      async run() {
        const kernels = await create();
        try {
          await check(createBench(kernels, random, tolerance));
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          throw new Error(`${name}: ${message} (seed ${seed})`, { cause: error });
        } finally {
          await kernels.dispose();
        }
      },
    });
  };

  add("memory is zeroed, viewed, written and read", memoryHolds);
  add("a batch stays in its slot while the other is uploaded to", slotsAreIndependent);
  for (const activation of activations) {
    add(`gather with ${activation}`, gatherAgrees(activation));
    add(`dense with ${activation}`, denseAgrees(activation));
    add(`dense backward with ${activation}`, denseBackwardAgrees(activation));
    add(`scatter with ${activation}`, scatterAgrees(activation));
  }
  for (const loss of losses) {
    for (const units of unitCounts) {
      add(`output with ${loss} over ${units} units`, outputAgrees(loss, units));
    }
    add(`large logits with ${loss}`, largeLogitsStayFinite(loss));
    add(`training steps with ${loss}`, stepsAgree(loss));
  }
  add("top k", topKAgrees);
  add("top k with equal logits", topKBreaksTies);
  add("blend", blendAgrees);
  return cases;
}
