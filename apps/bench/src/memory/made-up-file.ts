/** Data sets of made-up rows as files, of any size. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Batch } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { madeUpBatch, type MadeUpRows } from "../made-up-batches.js";

/** Rows that are made at a time. */
const PIECE_ROWS = 1000;

/** Writes rows as plain XC text, the same for the same arguments; returns once they are in the file. */
export async function writeMadeUpFile(
  path: string,
  { rows, ...shape }: MadeUpRows,
  seed: number,
): Promise<void> {
  const random = createRandom(seed);
  const file = createWriteStream(path);
  const done = finished(file);
  done.catch(() => undefined);
  file.write(`${rows} ${shape.features} ${shape.classes}\n`);
  for (let from = 0; from < rows; from += PIECE_ROWS) {
    const piece = madeUpBatch(random, { ...shape, rows: Math.min(PIECE_ROWS, rows - from) });
    // What the disk is slower than must not pile up here.
    if (!file.write(textOf(piece))) await Promise.race([once(file, "drain"), done]);
  }
  file.end();
  await done;
}

function textOf({ rows, offsets, indices, values, labelOffsets, labels }: Batch): string {
  let text = "";
  for (let row = 0; row < rows; row++) {
    text += labels.subarray(labelOffsets[row], labelOffsets[row + 1]).join();
    for (let at = offsets[row]!; at < offsets[row + 1]!; at++) {
      text += ` ${indices[at]}:${values[at]!.toPrecision(5)}`;
    }
    text += "\n";
  }
  return text;
}
