/**
 * What tests of GPU devices run on where there is no GPU: a stand-in for CUDA's driver, and whatever OpenCL
 * offers. Each is null with a reason where it can't be had.
 */
import { openclSupport } from "../packages/gpu-kernels/src/index.js";
import { controlOf, standIn, type StandInControl } from "../packages/gpu-kernels/test/stand-in.js";

export interface StandIn {
  /** For HETEROSGD_CUDA_LIBRARY. */
  readonly library: string;
  readonly control: StandInControl;
}

export const cudaStandIn: StandIn | null = standIn.ok
  ? { library: standIn.path, control: controlOf(standIn.path) }
  : null;

const opencl = openclSupport();

/** Why tests are skipped, to be read in their names; empty where they are not. */
export const skipped = {
  cuda: standIn.ok ? "" : ` (skipped: ${standIn.reason})`,
  opencl: opencl.available ? "" : ` (skipped: ${opencl.reason})`,
} as const;
