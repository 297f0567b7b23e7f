// @ts-check
// `npm run setup:gl`: installs what is missing and builds headless-gl, by which gpu.js has WebGL in Node.
import { requireNode } from "./lib/node-version.mjs";

requireNode();
const { install } = await import("./lib/bootstrap.mjs");

await install();
// oxlint-disable-next-line import/no-unassigned-import -- running it is all there is to it
await import("../packages/gpu-kernels/scripts/setup-gl.mjs");
