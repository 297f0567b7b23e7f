// @ts-check
/**
 * Assembles the committed PTX for the GPUs that it is for, and lists what each kernel takes of them: registers an
 * item, shared memory a group, bytes spilled. Needs the CUDA toolkit's `ptxas`, and no GPU.
 *
 *     node packages/gpu-kernels/scripts/list-registers.mjs
 */
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { ptxPath } from "./build-ptx.mjs";

/** From Turing to Hopper. */
export const targets = /** @type {const} */ (["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"]);

/**
 * @typedef {object} KernelUse
 * @property {string} kernel
 * @property {number} registers of an item
 * @property {number} shared bytes of a group
 * @property {number} spilled bytes of an item that go to memory for want of registers
 */

export function hasPtxas() {
  return spawnSync("ptxas", ["--version"]).status === 0;
}

/**
 * @param {string} target
 * @returns {KernelUse[]} by the kernels' names
 * @throws {Error} what ptxas has against the PTX
 */
export function kernelUse(target) {
  const args = ["-v", `-arch=${target}`, ptxPath, "-o", "/dev/null"];
  const { status, stderr, error } = spawnSync("ptxas", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ptxas: ${error?.message ?? stderr}`);
  const [, ...parts] = stderr.split(/Compiling entry function '/u);
  return parts
    .map((part) => ({
      kernel: /^\w+/u.exec(part)?.[0] ?? "",
      registers: figure(part, /Used (\d+) registers/u),
      shared: figure(part, /(\d+) bytes smem/u, 0),
      spilled: figure(part, /(\d+) bytes spill stores/u) + figure(part, /(\d+) bytes spill loads/u),
    }))
    .toSorted((a, b) => (a.kernel < b.kernel ? -1 : 1));
}

/**
 * @param {string} text
 * @param {RegExp} pattern
 * @param {number} [without] - what its lack means; left out: it may not be missing.
 */
function figure(text, pattern, without) {
  const found = pattern.exec(text)?.[1] ?? without;
  if (found === undefined) throw new Error(`ptxas does not say what ${pattern} is: ${text}`);
  return Number(found);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const uses = targets.map(kernelUse);
  const [first = []] = uses;
  console.log(`| kernel | shared memory | ${targets.join(" | ")} |`);
  console.log(`| --- | --- | ${targets.map(() => "---").join(" | ")} |`);
  for (const [i, { kernel, shared }] of first.entries()) {
    const each = uses.map((use) => `${use[i]?.registers}`);
    console.log(`| ${kernel} | ${shared} | ${each.join(" | ")} |`);
  }
  const spilled = uses.flat().reduce((sum, use) => sum + use.spilled, 0);
  console.log(
    `\nRegisters of an item; bytes of a group's shared memory. Spilled: ${spilled} bytes.`,
  );
}
