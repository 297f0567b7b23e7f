/** Builds the page of `demo/` in memory, with the data that it trains on. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ownFile } from "../own-files.js";

/** A page's files, by the name that it asks for. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

const sample = "../../packages/cli/data/wordnet-hypernyms";
const copied = [
  "demo/index.html",
  "demo/style.css",
  `${sample}/train.txt.gz`,
  `${sample}/test.txt.gz`,
  `${sample}/LICENSE.txt`,
];

export async function buildDemo(): Promise<PageFiles> {
  const files = new Map<string, Uint8Array>();
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(ownFile("demo/src/main.ts"))],
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    minify: true,
    write: false,
    outdir: fileURLToPath(ownFile("demo")),
    logLevel: "silent",
  });
  for (const { path, contents } of outputFiles) files.set(basename(path), contents);
  for (const path of copied) files.set(basename(path), await readFile(ownFile(path)));
  return files;
}
