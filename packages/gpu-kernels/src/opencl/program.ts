/** The kernels' source, and its compilation by the device's driver. */
import { readFileSync } from "node:fs";
import { GpuKernelsError } from "../errors.js";
import { packageRoot } from "../package-root.js";
import { errorName } from "./error-names.js";
import type { Handle, OpenClFunctions } from "./library.js";

const BUILD_LOG = 0x1183;

let source: string | undefined;

/** `kernels.cu` with what it includes, after OpenCL's words for it. */
function kernelSource(): string {
  return (source ??= `${readKernelFile("opencl.h")}\n${readKernelFile("kernels.cu")}`);
}

function readKernelFile(name: string): string {
  const text = readFileSync(new URL(`kernels/${name}`, packageRoot), "utf8");
  return text.replace(/^#include "(?<file>[\w.]+)"$/gmu, (_, file: string) => readKernelFile(file));
}

/** @throws GpuKernelsError GPU_DRIVER with the compiler's own words. */
export function buildProgram(cl: OpenClFunctions, context: Handle, device: Handle): Handle {
  const status = new Uint32Array(1);
  const program = cl.createProgram(context, 1, [kernelSource()], null, status);
  const code = status[0]! | 0;
  if (code !== 0) {
    throw new GpuKernelsError("GPU_DRIVER", `clCreateProgramWithSource: ${errorName(code)}.`);
  }
  const devices = BigUint64Array.of(device);
  const built = cl.buildProgram(program, 1, devices, "-cl-std=CL1.2", null, null);
  if (built === 0) return program;
  const log = new Uint8Array(2 ** 14);
  cl.getBuildInfo(program, device, BUILD_LOG, log.length, log, null);
  cl.releaseProgram(program);
  const words = new TextDecoder().decode(log.subarray(0, log.indexOf(0))).trim();
  throw new GpuKernelsError(
    "GPU_DRIVER",
    `The device's driver does not compile the kernels: ${errorName(built)}. It says: ${words}`,
  );
}
