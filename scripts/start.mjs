// @ts-check
// `npm start`: from a bare clone to a trained model. Further arguments go to the training command:
// `npm start -- --epochs 3`.
import { requireNode } from "./lib/node-version.mjs";

requireNode();
const { buildAndRun } = await import("./lib/build-and-run.mjs");
const { parameters, program } = await import("./lib/demo.mjs");

await buildAndRun("heterosgd", program, [...parameters, ...process.argv.slice(2)]);
