/**
 * A data set as programs in any language read it: peers.json says what lies where in peers.bin,
 * little-endian numbers of 4 bytes; fastText's lines of words are beside it.
 */
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { initialise, parameterLayout, rowNorm } from "@heterosgd/model";
import type { Dataset } from "@heterosgd/sparse";

/** Files of words in the folder, for fastText. */
export const wordFiles = { train: "train.words.txt", test: "test.words.txt" } as const;

/** How many lines are put together before they are written. */
const LINES = 1000;

/**
 * Writes both parts of a data set, and the initial parameters of a network: those that heterosgd begins with at
 * seed 1.
 *
 * @param hidden - units of the one ReLU layer; behind it comes a softmax over all labels.
 */
export function writePeerData(
  folder: string,
  { train, test }: { readonly train: Dataset; readonly test: Dataset },
  hidden: number,
): void {
  const features = train.features.columns;
  const labels = train.labels.columns;
  const layout = parameterLayout({
    features,
    labels,
    hidden: [hidden],
    activation: "relu",
    loss: "softmax",
  });
  const parameters = new Float32Array(layout.length);
  initialise(layout, parameters, 1, { rowNorm: rowNorm(train.features) });
  const file = openSync(join(folder, "peers.bin"), "w");
  const arrays: Record<string, unknown> = {};
  let end = 0;
  const append = (name: string, array: Float32Array | Uint32Array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    // One call may write less than it is given.
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    const type = array instanceof Float32Array ? "<f4" : "<u4";
    arrays[name] = { type, offset: end, length: array.length };
    end += array.byteLength;
  };
  try {
    for (const [name, part] of Object.entries({ train, test })) {
      append(`${name}.offsets`, part.features.offsets);
      append(`${name}.indices`, part.features.indices);
      append(`${name}.values`, part.features.values);
      append(`${name}.labelOffsets`, part.labels.offsets);
      append(`${name}.labels`, part.labels.indices);
    }
    for (const { name, offset, length } of layout.tensors) {
      append(name, parameters.subarray(offset, offset + length));
    }
  } finally {
    closeSync(file);
  }
  const plan = { features, labels, hidden, arrays };
  writeFileSync(join(folder, "peers.json"), JSON.stringify(plan));
  writeWords(join(folder, wordFiles.train), train);
  writeWords(join(folder, wordFiles.test), test);
}

/** A line a row: its labels, and a word for each feature that it has; words have no values. */
function writeWords(path: string, { rows, features, labels }: Dataset): void {
  const file = openSync(path, "w");
  try {
    let lines: string[] = [];
    for (let row = 0; row < rows; row++) {
      const wanted = labels.indices.subarray(labels.offsets[row], labels.offsets[row + 1]);
      const words = features.indices.subarray(features.offsets[row], features.offsets[row + 1]);
      lines.push(
        [...Array.from(wanted, (id) => `__label__${id}`), ...Array.from(words, (id) => `f${id}`)]
          .join(" ")
          .concat("\n"),
      );
      if (lines.length < LINES && row + 1 < rows) continue;
      writeFileSync(file, lines.join(""));
      lines = [];
    }
  } finally {
    closeSync(file);
  }
}
