// @ts-check
// `npm start`: from a bare clone to a trained model. Further arguments go to the training command: `npm start -- --epochs 3`.
import { requireNode } from "./lib/node-version.mjs";

requireNode();
const { buildAndRun } = await import("./lib/build-and-run.mjs");

const command = "packages/cli/dist/main.js";
const demo = [
  "train",
  "--data",
  "packages/cli/data/wordnet-hypernyms",
  "--out",
  "runs/demo",
  "--force",
];

await buildAndRun("heterosgd", command, [...demo, ...process.argv.slice(2)]);
