/**
 * Compiles the kernels to PTX, which is committed: who has no CUDA toolkit runs it all the same, as the
 * driver translates it for its GPU.
 *
 *     node packages/gpu-kernels/scripts/build-ptx.mjs
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageFolder } from "./kernel-sources.mjs";

export const ptxPath = join(packageFolder, "kernels", "ptx", "kernels.ptx");

/** Turing and newer: the oldest that CUDA 13 compiles for. */
const architecture = "compute_75";
/**
 * Of the language, as the file says it. nvcc names its own version, though the kernels need none of what
 * came since, and drivers refuse what is newer than they are. CUDA 10.2's drivers have this one.
 */
const ptxVersion = "6.5";

/** nvcc's version as it stands in what it compiles, undefined where there is none. */
export function nvccVersion() {
  const { status, stdout } = spawnSync("nvcc", ["--version"], { encoding: "utf8" });
  return status === 0 ? /release .*, V[\d.]+/u.exec(stdout)?.[0] : undefined;
}

/** @throws {Error} what nvcc has against the sources */
export function compilePtx(kernels = join(packageFolder, "kernels")) {
  const folder = mkdtempSync(join(tmpdir(), "ptx-"));
  try {
    const out = join(folder, "kernels.ptx");
    const prelude = join(packageFolder, "kernels", "cuda.h");
    const args = ["-ptx", `-arch=${architecture}`, "-include", prelude, "-o", out];
    const source = join(kernels, "kernels.cu");
    const { status, stderr, error } = spawnSync("nvcc", [...args, source], { encoding: "utf8" });
    if (status !== 0) throw new Error(`nvcc: ${error?.message ?? stderr}`);
    const ptx = readFileSync(out, "utf8");
    const relabelled = ptx.replace(/^\.version \d+\.\d+$/mu, `.version ${ptxVersion}`);
    if (relabelled === ptx) throw new Error("nvcc's PTX has no line that says its version");
    return relabelled;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  mkdirSync(dirname(ptxPath), { recursive: true });
  writeFileSync(ptxPath, compilePtx());
  console.log(ptxPath);
}
