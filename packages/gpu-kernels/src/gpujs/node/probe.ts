import type { GpujsKernels, GpujsNodeMode } from "../api.js";
import { GpuKernelsError } from "../../errors.js";
import { messageOf } from "../../lack.js";
import { loadGpujs, whyNoWebGl } from "./load-gpujs.js";
import type { Probed } from "./messages.js";
import { openHere } from "./open-kernels.js";

/** Renderers that compute on the processor. */
const software = /llvmpipe|softpipe|swrast|swiftshader|software|basic render/iu;

/** Whether this process can have gpu.js in a mode: it opens it, and closes it again. */
export async function probe(mode: GpujsNodeMode): Promise<Probed> {
  const loaded = await loadGpujs();
  if (!loaded.ok) return { lack: { mode, reason: loaded.reason, remedy: loaded.remedy } };
  let kernels: GpujsKernels;
  try {
    kernels = await openHere(mode);
  } catch (error) {
    const isAbsent = error instanceof GpuKernelsError && error.code === "GPU_UNAVAILABLE";
    if (mode === "headlessgl" && isAbsent) {
      const { reason, remedy } = whyNoWebGl();
      return { lack: { mode, reason, remedy } };
    }
    return { lack: { mode, reason: messageOf(error), remedy: "use another mode of gpu.js" } };
  }
  const { device: name } = kernels;
  await kernels.dispose();
  const isGpu = mode === "headlessgl" && !software.test(name);
  return { device: { technology: "gpujs", mode, name, kind: isGpu ? "gpu" : "cpu" } };
}
