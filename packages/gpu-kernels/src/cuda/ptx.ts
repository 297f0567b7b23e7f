/** The kernels as PTX, which the driver translates for its GPU when it loads them. */
import { readFileSync } from "node:fs";
import { packageRoot } from "../package-root.js";

/** The oldest GPUs that it is for, 10 · major + minor of their compute capability. */
export const neededCapability = 75;

/** The oldest driver that takes its version of PTX, as `cuDriverGetVersion` says it: CUDA 10.2's. */
export const neededDriver = 10_020;

let image: Uint8Array | undefined;

/** With a NUL at the end, as the driver wants it. */
export function ptxImage(): Uint8Array {
  return (image ??= read());
}

function read(): Uint8Array {
  const text = readFileSync(new URL("kernels/ptx/kernels.ptx", packageRoot));
  const ended = new Uint8Array(text.length + 1);
  ended.set(text);
  return ended;
}
