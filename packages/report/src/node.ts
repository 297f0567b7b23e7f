export { createDocument } from "./files/document.js";
export { pngOf } from "./files/png.js";
export { readRun, type ReadRun } from "./files/read-run.js";
