import { SparseError } from "./errors.js";
import { createFeed, endFeed, feed } from "./internal/feed.js";
import { renumberLabels } from "./internal/growing-rows.js";
import { labelBounds } from "./internal/label-bounds.js";
import { shown } from "./internal/bytes.js";
import { type ByteStream, readAll } from "./internal/read-all.js";
import { resultOf } from "./internal/result.js";
import { type Complaint, createScanner } from "./internal/scanner.js";
import {
  checkChoice,
  commonOptions,
  type LibsvmOptions,
  type ReadResult,
  type TextReader,
} from "./read-options.js";

/**
 * A reader of LIBSVM's text format: a line a row, `label index:value index:value …`, with several
 * labels separated by commas, features counted from 1 (`indexBase`), `#` comments and `qid:` passed
 * over. Unless told otherwise, labels are names (see `labelValues`).
 *
 * @throws SparseError from `push` and `finish`; see the README for codes.
 */
export function createLibsvmReader(options: LibsvmOptions = {}): TextReader {
  const { indexBase = 1, features, labels, labelNames, labelValues = "names" } = options;
  checkChoice("indexBase", indexBase, [0, 1]);
  checkChoice("labelValues", labelValues, ["names", "ids"]);
  if (labelNames && labelValues === "ids") {
    throw new TypeError('labelNames and labelValues: "ids" exclude each other');
  }
  const common = commonOptions(options);
  const names = labelValues === "names" ? nameTable(labelNames, common.dropWider) : null;
  const scanner = createScanner({
    ...common,
    comments: true,
    indexBase,
    labelId: names?.idOf ?? labelBounds(null, labels ?? null, common.dropWider),
    labelText: (id) => String(names ? names.values[id] : id),
  });
  const input = createFeed(scanner);

  return {
    push(bytes) {
      feed(input, bytes);
    },
    finish(): ReadResult {
      endFeed(input);
      const { rows } = scanner;
      if (rows.rows === 0) {
        throw new SparseError("EMPTY_INPUT", `${common.source}: no data, not one row.`);
      }
      const result = { features: features ?? rows.features };
      if (!names) {
        const count = labels ?? rows.labelCount;
        return resultOf("libsvm", scanner, options, { ...result, labels: count, labelNames: null });
      }
      if (labelNames) {
        const count = labelNames.length;
        return resultOf("libsvm", scanner, options, { ...result, labels: count, labelNames });
      }
      const found = sortNames(names.values);
      if (labels !== undefined && found.values.length > labels) {
        throw new SparseError(
          "TOO_WIDE",
          `${common.source}: ${found.values.length} different labels, but at most ${labels} are asked for. Give the training data's labelNames.`,
        );
      }
      renumberLabels(rows, found.numbers);
      return resultOf("libsvm", scanner, options, {
        ...result,
        labels: labels ?? found.values.length,
        labelNames: found.values.map(String),
      });
    },
  };
}

interface NameTable {
  /** Label values by id: in order of first sight, or as given. */
  readonly values: number[];
  readonly idOf: (value: number) => number | Complaint;
}

function nameTable(known: readonly string[] | undefined, drop: boolean): NameTable {
  const values: number[] = known ? known.map((name) => wholeNumber(name)) : [];
  const ids = new Map<number, number>();
  for (const [id, value] of values.entries()) if (!Number.isNaN(value)) ids.set(value, id);
  return {
    values,
    idOf(value) {
      const id = ids.get(value);
      if (id !== undefined) return id;
      if (known) {
        if (drop) return -1;
        const examples = known.slice(0, 3).map(shown).join(", ");
        return {
          code: "UNKNOWN_LABEL",
          what: `label ${value} is none of the ${known.length} known ones (${examples}${known.length > 3 ? ", …" : ""})`,
          advice: 'Use data of the same labels, or leave the others out with onWider: "drop".',
        };
      }
      ids.set(value, values.length);
      values.push(value);
      return values.length - 1;
    },
  };
}

function wholeNumber(name: string): number {
  return /^[+-]?\d+$/.test(name) ? Number(name) : Number.NaN;
}

/** The values in ascending order, and the place there of each. */
function sortNames(values: readonly number[]): { values: number[]; numbers: Uint32Array } {
  const order = Uint32Array.from(values.keys()).toSorted((a, b) => values[a]! - values[b]!);
  const numbers = new Uint32Array(values.length);
  for (const [place, id] of order.entries()) numbers[id] = place;
  return { values: [...order].map((id) => values[id]!), numbers };
}

/**
 * Reads LIBSVM text (see `createLibsvmReader`). A string or bytes are read at once, a stream in
 * bounded memory: what the data set takes, twice at the end, plus one chunk.
 *
 * @throws SparseError see the README for codes.
 */
export function readLibsvm(
  text: string | Uint8Array,
  options: LibsvmOptions & { readonly shared: true },
): ReadResult<SharedArrayBuffer>;
export function readLibsvm(text: string | Uint8Array, options?: LibsvmOptions): ReadResult;
export function readLibsvm(
  stream: ByteStream,
  options: LibsvmOptions & { readonly shared: true },
): Promise<ReadResult<SharedArrayBuffer>>;
export function readLibsvm(stream: ByteStream, options?: LibsvmOptions): Promise<ReadResult>;
export function readLibsvm(
  input: string | Uint8Array | ByteStream,
  options: LibsvmOptions = {},
): ReadResult | Promise<ReadResult> {
  return readAll(createLibsvmReader(options), input);
}
