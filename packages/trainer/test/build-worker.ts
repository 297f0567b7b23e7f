import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

/**
 * Bundles a worker of this folder's `workers/`: worker threads load no TypeScript. What kernels load
 * at run time lies beside the bundle's folder, as in the command's package.
 */
export async function buildWorker(name: string): Promise<URL> {
  const folder = mkdtempSync(join(tmpdir(), "worker-"));
  const kernels = fileURLToPath(new URL("../../cpu-kernels/", import.meta.url));
  for (const part of ["wasm", "prebuilds", "node_modules"]) {
    symlinkSync(join(kernels, part), join(folder, part), "junction");
  }
  const outfile = join(folder, "dist", `${name}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`./workers/${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2022",
    external: ["node-gyp-build"],
  });
  return pathToFileURL(outfile);
}
