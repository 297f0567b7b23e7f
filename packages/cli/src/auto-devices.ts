/** What `--devices auto` takes. */
import { availableParallelism } from "node:os";
import { nativeSupport } from "@heterosgd/cpu-kernels";
import { algorithms } from "@heterosgd/scheduler";
import {
  defaultDevices,
  formatDevice,
  hardwareGpus,
  mayHaveGpus,
  TrainerError,
  type DeviceSpec,
} from "@heterosgd/trainer";
import { findGpujs } from "./gpujs.js";
import { measureDevices } from "./measure-devices.js";
import { gpuSpec, measureGpus, type AnyGpu, type MeasuredGpu } from "./measure-gpus.js";
import { formatCount } from "./output/format.js";
import type { Output } from "./output/output.js";

export interface AutoOptions {
  /** Null where nothing is trained. */
  readonly algorithm: string | null;
  readonly kernels: string;
  readonly require: boolean;
}

type Say = Pick<Output, "say" | "warn">;
type UsableGpu = MeasuredGpu & { readonly rowsPerSecond: number };

/**
 * Names the devices that `auto` means: the GPUs that the algorithm has a use for, the fastest first, then the
 * processor. gpu.js is taken where it runs on a GPU and is faster than all else, in place of the same GPU on CUDA or
 * OpenCL.
 *
 * @returns null where there is no such GPU.
 * @throws TrainerError KERNELS_UNAVAILABLE if a GPU that there is can't be used, and that is refused.
 */
export async function autoDevices(
  { algorithm, kernels, require }: AutoOptions,
  output: Say,
): Promise<string | null> {
  const roles = algorithm === null ? [] : (algorithms[algorithm]?.roles ?? []);
  if (roles.length > 0 && !roles.includes("accelerator")) return null;
  if (!mayHaveGpus()) return null;
  const usable = await usableGpus(hardwareGpus(), require, output);
  const gpus = await withWebGl(usable, kernels, require, output);
  if (gpus.length === 0) return null;
  const fastest = gpus.toSorted((a, b) => b.rowsPerSecond - a.rowsPerSecond);
  const devices = [...fastest.map(gpuSpec), ...processors(kernels, gpus.length)];
  return devices.map(formatDevice).join(",");
}

/** Measures them, and says how fast they are and which can't be used. */
async function usableGpus(
  gpus: readonly AnyGpu[],
  require: boolean,
  output: Say,
): Promise<readonly UsableGpu[]> {
  if (gpus.length === 0) return [];
  output.say(`measuring ${gpus.map(({ name }) => name).join(", ")}`);
  const gpujs = gpus.some(({ technology }) => technology === "gpujs") ? findGpujs() : undefined;
  const usable: UsableGpu[] = [];
  for (const gpu of await measureGpus(gpus, await gpujs)) {
    const { name, rowsPerSecond } = gpu;
    const device = `${formatDevice(gpuSpec(gpu))} (${name})`;
    if (rowsPerSecond !== null) {
      output.say(`${device}: ${formatCount(rowsPerSecond)} rows/s`);
      usable.push({ ...gpu, rowsPerSecond });
      continue;
    }
    const why = `${device} can't be used: ${gpu.reason}`;
    if (require) throw new TrainerError("KERNELS_UNAVAILABLE", `${why}; leave --require out`);
    output.warn(`${why}; going on without it`);
  }
  return usable;
}

/** The GPUs and gpu.js, where that runs on one and is the fastest of all. */
async function withWebGl(
  gpus: readonly UsableGpu[],
  kernels: string,
  require: boolean,
  output: Say,
): Promise<readonly UsableGpu[]> {
  const { devices } = await findGpujs();
  // Drawn by software it is no GPU, whatever its speed.
  const found = devices.find(({ mode, kind }) => mode === "headlessgl" && kind === "gpu");
  if (found === undefined) return gpus;
  const [webGl] = await usableGpus([found], require, output);
  if (webGl === undefined) return gpus;
  const others = [...gpus.map(({ rowsPerSecond }) => rowsPerSecond), await processorSpeed(kernels)];
  if (webGl.rowsPerSecond <= Math.max(...others)) {
    output.say(`going on without gpu.js: it is not the fastest`);
    return gpus;
  }
  // One GPU is not to do the work of two devices. Renderers are named at more length than GPUs.
  const isOther = ({ name }: UsableGpu) => !webGl.name.includes(name);
  return [webGl, ...gpus.filter(isOther)];
}

/** Rows a second of all that would run on the processor. */
async function processorSpeed(kernels: string): Promise<number> {
  const measured = await measureDevices(processors(kernels, 0), 0.5);
  return measured.reduce((sum, { rowsPerSecond }) => sum + rowsPerSecond, 0);
}

/** The cores that GPUs leave: one device on all of them where the kernels have threads. */
function processors(kernels: string, gpus: number): readonly DeviceSpec[] {
  const cores = Math.max(1, availableParallelism() - gpus);
  const threaded = kernels !== "wasm" && kernels !== "plain" && nativeSupport().available;
  const [one] = defaultDevices(1);
  return threaded ? [{ ...one!, threads: Math.min(cores, 256) }] : defaultDevices(cores);
}
