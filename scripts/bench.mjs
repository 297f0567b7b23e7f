// @ts-check
// `npm run bench -- NAME`: runs one program of apps/bench on a current build.
import { requireNode } from "./lib/node-version.mjs";

requireNode();
const { buildAndRun } = await import("./lib/build-and-run.mjs");

await buildAndRun("@heterosgd/bench", "apps/bench/dist/main.js", process.argv.slice(2));
