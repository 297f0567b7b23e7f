/** What `--devices auto` takes. */
import { availableParallelism } from "node:os";
import { nativeSupport } from "@heterosgd/cpu-kernels";
import { algorithms } from "@heterosgd/scheduler";
import {
  defaultDevices,
  formatDevice,
  hardwareGpus,
  TrainerError,
  type DeviceSpec,
} from "@heterosgd/trainer";
import { gpuSpec, measureGpus } from "./measure-gpus.js";
import { formatCount } from "./output/format.js";
import type { Output } from "./output/output.js";

export interface AutoOptions {
  /** Null where nothing is trained. */
  readonly algorithm: string | null;
  readonly kernels: string;
  readonly require: boolean;
}

/**
 * Names the devices that `auto` means: the GPUs that the algorithm has a use for, the fastest first, then the
 * processor.
 *
 * @returns null where there is no such GPU.
 * @throws TrainerError KERNELS_UNAVAILABLE if a GPU that there is can't be used, and that is refused.
 */
export async function autoDevices(
  { algorithm, kernels, require }: AutoOptions,
  output: Pick<Output, "say" | "warn">,
): Promise<string | null> {
  const roles = algorithm === null ? [] : (algorithms[algorithm]?.roles ?? []);
  if (roles.length > 0 && !roles.includes("accelerator")) return null;
  const gpus = hardwareGpus();
  if (gpus.length === 0) return null;
  output.say(`measuring ${gpus.map(({ name }) => name).join(", ")}`);
  const usable: { readonly spec: DeviceSpec; readonly rowsPerSecond: number }[] = [];
  for (const { name, rowsPerSecond, reason, ...gpu } of await measureGpus(gpus)) {
    const spec = gpuSpec({ name, ...gpu });
    if (rowsPerSecond !== null) {
      output.say(`${formatDevice(spec)} (${name}): ${formatCount(rowsPerSecond)} rows/s`);
      usable.push({ spec, rowsPerSecond });
      continue;
    }
    const why = `${formatDevice(spec)} (${name}) can't be used: ${reason}`;
    if (require) throw new TrainerError("KERNELS_UNAVAILABLE", `${why}; leave --require out`);
    output.warn(`${why}; going on without it`);
  }
  if (usable.length === 0) return null;
  const fastest = usable.toSorted((a, b) => b.rowsPerSecond - a.rowsPerSecond);
  const devices = [...fastest.map(({ spec }) => spec), ...processors(kernels, usable.length)];
  return devices.map(formatDevice).join(",");
}

/** The cores that GPUs leave: one device on all of them where the kernels have threads. */
function processors(kernels: string, gpus: number): readonly DeviceSpec[] {
  const cores = Math.max(1, availableParallelism() - gpus);
  const threaded = kernels !== "wasm" && kernels !== "plain" && nativeSupport().available;
  const [one] = defaultDevices(1);
  return threaded ? [{ ...one!, threads: Math.min(cores, 256) }] : defaultDevices(cores);
}
