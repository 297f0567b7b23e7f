import { createHash } from "node:crypto";
import type { Dataset } from "../types.js";

const PIECE_BYTES = 2 ** 24;

/** SHA-256 of a data set's buffer in hexadecimal: equal for equal data, on every machine. */
export function datasetFingerprint(dataset: Dataset): string {
  const hash = createHash("sha256");
  const bytes = new Uint8Array(dataset.buffer);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    hash.update(bytes.subarray(at, at + PIECE_BYTES));
  }
  return hash.digest("hex");
}
