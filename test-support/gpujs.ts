/** What tests of devices on gpu.js run on: WebGL by headless-gl, which needs a display, and what needs none. */
import { gpujsSupport, type GpujsNodeMode } from "../packages/gpu-kernels/src/index.js";

const support = await gpujsSupport();

/** Why such tests are skipped, to be read in their names; empty where they are not. */
export function withoutGpujs(mode: GpujsNodeMode): string {
  const lack = support.lacking.find((one) => one.mode === mode);
  return lack === undefined ? "" : ` (skipped: ${lack.reason})`;
}
