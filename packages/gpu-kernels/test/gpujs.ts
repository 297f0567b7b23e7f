/** gpu.js for tests, in the test's own process. */
import { GPU } from "gpu.js";
import type { GpuClass, GpujsKernels } from "../src/gpujs.js";
import { createGpujsKernels } from "../src/gpujs.js";
import type { GpujsNodeMode } from "../src/gpujs/api.js";

/** Why a mode's tests are skipped, to be read in their names; empty where they are not. */
export const skipped: Readonly<Record<GpujsNodeMode, string>> = {
  headlessgl: GPU.isHeadlessGLSupported ? "" : " (skipped: no gl or no display)",
  webasm: "",
  cpu: "",
};

type Kernel = ReturnType<InstanceType<GpuClass>["createKernel"]>;

/**
 * gpu.js's class, all of whose instances of a mode are one and compile a kernel once: a shader takes 0.1 s and more.
 * Each kernels object still deletes what it holds.
 */
function sharedGpu(mode: GpujsNodeMode): GpuClass {
  let gpu: GPU | undefined;
  const compiled = new Map<string, Kernel[]>();
  return class {
    readonly #given = new Map<string, number>();
    readonly Kernel: unknown;

    constructor() {
      gpu ??= new GPU({ mode });
      this.Kernel = (gpu as unknown as { Kernel: unknown }).Kernel;
    }

    get context(): unknown {
      return (gpu as unknown as { context: unknown }).context;
    }

    createKernel(source: string, settings: object): Kernel {
      const key = source + JSON.stringify(settings);
      const all = compiled.get(key) ?? [];
      compiled.set(key, all);
      const index = this.#given.get(key) ?? 0;
      this.#given.set(key, index + 1);
      return (all[index] ??= gpu!.createKernel(source, settings) as unknown as Kernel);
    }

    destroy(): Promise<void> {
      return Promise.resolve();
    }
  };
}

export function openShared(
  mode: GpujsNodeMode,
  options: { keptBytes?: number } = {},
): GpujsKernels {
  return createGpujsKernels({ GPU: gpuOf(mode), mode, ...options });
}

const classes = new Map<GpujsNodeMode, GpuClass>();

function gpuOf(mode: GpujsNodeMode): GpuClass {
  const found = classes.get(mode) ?? sharedGpu(mode);
  classes.set(mode, found);
  return found;
}

/** The modes whose kernels are checked, with why they can't be. */
export const modes = (["headlessgl", "webasm", "cpu"] as const).map((mode) => ({
  mode,
  title: mode + skipped[mode],
  isAbsent: skipped[mode] !== "",
}));
