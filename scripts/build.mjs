// @ts-check
// `npm run build`: installs what is missing and builds what has changed.
import { requireNode } from "./lib/node-version.mjs";

requireNode();
const { prepare } = await import("./lib/build-and-run.mjs");

await prepare();
