import { checkOptions, numberOf } from "../../checks.js";
import { GpuKernelsError } from "../../errors.js";
import type { GpujsKernels, GpujsNodeMode, OpenGpujsOptions } from "../api.js";
import { createGpujsKernels } from "../gpujs-kernels.js";
import { loadGpujs, unavailable, whyNoWebGl } from "./load-gpujs.js";
import { openProcessKernels } from "./process-kernels.js";

const modes: Readonly<Record<GpujsNodeMode, number>> = { headlessgl: 0, webasm: 1, cpu: 2 };

/**
 * The Kernels contract by gpu.js in Node, on just what `mode` names.
 *
 * In the calling thread (`isolation: "thread"`) headless-gl is loaded as a copy of its addon, so that several
 * workers can have it at once. `dispose` has to be awaited and the worker to end by itself: a thread that is
 * cut off with a context of OpenGL may take the process with it.
 *
 * In a process of its own (`isolation: "process"`) calls are messages, whose arrays are copied: what is wrong with
 * a call is thrown by the next `read`, `topK`, `warm` or `dispose`, and the end of the process is GPU_LOST
 * there.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE with what would help, GPU_LOST, KERNEL_ARGUMENT
 */
export async function openGpujsKernels(options: OpenGpujsOptions): Promise<GpujsKernels> {
  const operation = "openGpujsKernels";
  checkOptions(operation, options, ["mode", "isolation"]);
  const { mode, isolation = "thread" } = options;
  numberOf(operation, "mode", modes, mode);
  numberOf(operation, "isolation", { thread: 0, process: 1 }, isolation);
  return isolation === "process" ? openProcessKernels(mode) : openHere(mode);
}

/** @throws GpuKernelsError GPU_UNAVAILABLE */
export async function openHere(mode: GpujsNodeMode): Promise<GpujsKernels> {
  const loaded = await loadGpujs();
  if (!loaded.ok) throw unavailable(mode, loaded);
  try {
    return createGpujsKernels({ GPU: loaded.GPU, mode });
  } catch (error) {
    const isAbsent = error instanceof GpuKernelsError && error.code === "GPU_UNAVAILABLE";
    throw isAbsent && mode === "headlessgl" ? unavailable(mode, whyNoWebGl()) : error;
  }
}
