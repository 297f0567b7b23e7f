import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

/** Bundles a worker of this folder's `workers/`: worker threads load no TypeScript. */
export async function buildWorker(name: string): Promise<URL> {
  const outfile = join(mkdtempSync(join(tmpdir(), "worker-")), `${name}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`./workers/${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2022",
  });
  return pathToFileURL(outfile);
}
