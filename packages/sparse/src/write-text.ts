import { SparseError } from "./errors.js";
import { float32Text } from "./internal/float32-text.js";
import type { Dataset } from "./types.js";

const CHUNK_CHARACTERS = 65_536;

/**
 * The data set as XC text: a header, then a line a row. In pieces of about 64 KiB, so that any size
 * is written in little memory. Values take the fewest digits that read back as the same float32.
 *
 * @throws SparseError `EMPTY_ROW` for a row without labels and features, which XC text can't hold
 *   (it would be a blank line).
 */
export function* writeXc(dataset: Dataset): Generator<string, void, undefined> {
  const { rows, features, labels } = dataset;
  yield `${rows} ${features.columns} ${labels.columns}\n`;
  yield* lines(dataset, 0, String);
}

export interface WriteLibsvmOptions {
  /** The number of the first feature. Default 1. */
  readonly indexBase?: 0 | 1;
  /** What to write for each label: whole numbers, as `ReadResult.labelNames`. Default: its id. */
  readonly labelNames?: readonly string[] | null;
}

/**
 * The data set as LIBSVM text, otherwise as `writeXc`. To read it back as it was, give the reader
 * `features` (LIBSVM text does not hold their number) and, where labels are written as ids,
 * `labelValues: "ids"` with `labels`.
 *
 * @throws SparseError `EMPTY_ROW`; `BAD_LABEL` if a label's name is not a whole number.
 */
export function* writeLibsvm(
  dataset: Dataset,
  options: WriteLibsvmOptions = {},
): Generator<string, void, undefined> {
  const { indexBase = 1, labelNames } = options;
  yield* lines(dataset, indexBase, (label) => {
    const name = labelNames ? labelNames[label] : String(label);
    if (name !== undefined && /^[+-]?\d+$/.test(name)) return name;
    throw new SparseError(
      "BAD_LABEL",
      `label ${label} is named ${JSON.stringify(name)}, but LIBSVM text holds whole numbers only. Write XC text, or leave out labelNames.`,
    );
  });
}

function* lines(
  dataset: Dataset,
  indexBase: number,
  labelText: (label: number) => string,
): Generator<string, void, undefined> {
  const { features, labels } = dataset;
  let text = "";
  for (let row = 0; row < dataset.rows; row++) {
    const start = features.offsets[row]!;
    const end = features.offsets[row + 1]!;
    const labelStart = labels.offsets[row]!;
    const labelEnd = labels.offsets[row + 1]!;
    if (start === end && labelStart === labelEnd) {
      throw new SparseError(
        "EMPTY_ROW",
        `row ${row} has neither labels nor features, and would be a blank line. Leave such rows out with selectRows.`,
      );
    }
    for (let i = labelStart; i < labelEnd; i++) {
      if (i > labelStart) text += ",";
      text += labelText(labels.indices[i]!);
    }
    // Without labels the line begins with the space before the first feature.
    for (let i = start; i < end; i++) {
      text += ` ${features.indices[i]! + indexBase}:${float32Text(features.values[i]!)}`;
      if (text.length > CHUNK_CHARACTERS) {
        yield text;
        text = "";
      }
    }
    text += "\n";
    if (text.length > CHUNK_CHARACTERS) {
      yield text;
      text = "";
    }
  }
  if (text !== "") yield text;
}
