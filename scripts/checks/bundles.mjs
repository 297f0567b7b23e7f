// @ts-check
import { existsSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { root } from "../lib/workspace.mjs";

/**
 * The most bytes that everything a package exports may take in a browser, minified and gzipped.
 * Raised in the commit that needs it.
 *
 * @type {Readonly<Record<string, number>>}
 */
export const byteCeilings = {
  sparse: 12_000,
  scheduler: 20_000,
  merge: 2_000,
};

/** @type {import("../lib/check.js").Check} */
export const bundlesCheck = {
  name: "bundles",
  about: "sparse, scheduler and merge bundle for a browser, each below its byte ceiling",
  async run() {
    const problems = [];
    const sizes = [];
    for (const [id, ceiling] of Object.entries(byteCeilings)) {
      const entry = join(root, "packages", id, "dist", "index.js");
      if (!existsSync(entry)) {
        problems.push(`packages/${id} has no dist/index.js to bundle.`);
        continue;
      }
      const { code, problem } = await bundleForBrowser(`export * from ${JSON.stringify(entry)};`);
      if (problem !== undefined) {
        problems.push(`packages/${id}: ${problem}`);
        continue;
      }
      const bytes = gzipSync(code).length;
      sizes.push(`${id} ${bytes}`);
      if (bytes > ceiling) {
        problems.push(
          `packages/${id} takes ${bytes} bytes minified and gzipped, over its ceiling of ${ceiling}.`,
        );
      }
    }
    return { problems, note: sizes.length === 0 ? "" : `bytes: ${sizes.join(", ")}` };
  },
};

/**
 * Bundles a module's TypeScript text as a browser would need it: a Node built-in anywhere in it is
 * an error.
 *
 * @param {string} source
 * @param {string} [folder] where its imports are resolved from
 * @returns {Promise<{ code: string, problem?: string }>}
 */
export async function bundleForBrowser(source, folder = root) {
  try {
    const { outputFiles } = await build({
      stdin: { contents: source, resolveDir: folder, sourcefile: "entry.ts", loader: "ts" },
      bundle: true,
      write: false,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      logLevel: "silent",
    });
    return { code: outputFiles[0]?.text ?? "" };
  } catch (error) {
    return { code: "", problem: error instanceof Error ? error.message : String(error) };
  }
}
