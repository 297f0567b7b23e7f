import { createFeed, endFeed, type Feed, feed } from "./internal/feed.js";
import {
  collect,
  type FirstLine,
  firstLine,
  type HeadCollector,
  parseXcHeader,
} from "./internal/first-line.js";
import { shown } from "./internal/bytes.js";
import { createScanner, failAt, type Scanner } from "./internal/scanner.js";
import { type ByteStream, readAll } from "./internal/read-all.js";
import { labelBounds } from "./internal/label-bounds.js";
import { resultOf } from "./internal/result.js";
import { MAX_COUNT } from "./layout.js";
import { SparseError } from "./errors.js";
import { commonOptions, type ReadResult, type TextReader, type XcOptions } from "./read-options.js";

type Header = readonly [rows: number, features: number, labels: number];

/**
 * A reader of the Extreme Classification Repository's text format: a header
 * `rows features labels`, then a line a row, `label,label index:value index:value …`, everything
 * counted from 0.
 *
 * @throws SparseError from `push` and `finish`; see the README for codes.
 */
export function createXcReader(options: XcOptions = {}): TextReader {
  const { header: hasHeader = true, features, labels } = options;
  const common = commonOptions(options);
  const head: HeadCollector = { bytes: new Uint8Array(0) };
  let header: Header | null = null;
  let input: Feed | null = hasHeader ? null : createFeed(scannerFor(null));

  function scannerFor(declared: Header | null): Scanner {
    return createScanner({
      ...common,
      comments: false,
      indexBase: 0,
      declaredRows: declared && declared[0],
      declaredFeatures: declared && declared[1],
      labelId: labelBounds(declared && declared[2], labels ?? null, common.dropWider),
      labelText: String,
    });
  }

  function begin(line: FirstLine): void {
    header = checkHeader(line);
    const scanner = scannerFor(header);
    scanner.line = line.line + 1;
    scanner.lineStart = line.end;
    scanner.blankLines = line.line - 1;
    input = createFeed(scanner, line.end);
    feed(input, head.bytes.subarray(line.end));
    head.bytes = new Uint8Array(0);
  }

  function checkHeader({ text, line }: FirstLine): Header {
    const at = { source: common.source, line, column: 1 };
    if (/\r(?!$)/.test(text)) {
      const message = "carriage returns stand where line feeds must. Convert the text's line ends.";
      throw new SparseError("BAD_TOKEN", message, { at });
    }
    const found = parseXcHeader(text);
    if (!found) {
      throw new SparseError(
        "XC_HEADER",
        `expected a header of three whole numbers, rows features labels, received ${shown(text)}. Text without one is read with header: false, LIBSVM text by a LIBSVM reader.`,
        { at },
      );
    }
    for (const [i, name] of (["rows", "features", "labels"] as const).entries()) {
      if (found[i]! > MAX_COUNT) {
        const message = `the header says ${found[i]} ${name}, but at most ${MAX_COUNT.toLocaleString("en-US")} are possible. Split the data.`;
        throw new SparseError("TOO_LARGE", message, { at });
      }
    }
    if (!common.dropWider) {
      refuseWider("features", found[1], features);
      refuseWider("labels", found[2], labels);
    }
    return found;

    function refuseWider(name: string, count: number, bound: number | undefined): void {
      if (bound === undefined || count <= bound) return;
      throw new SparseError(
        "TOO_WIDE",
        `the header says ${count} ${name}, but at most ${bound} are asked for. Use data of the same ${name}, or leave the others out with onWider: "drop".`,
        { at },
      );
    }
  }

  function emptyInput(): SparseError {
    return new SparseError("EMPTY_INPUT", `${common.source}: no data, only an empty text.`);
  }

  return {
    push(bytes) {
      if (input) {
        feed(input, bytes);
        return;
      }
      const line = collect(head, bytes, common.source);
      if (line) begin(line);
    },
    finish(): ReadResult {
      if (!input) {
        const line = firstLine(head.bytes, true);
        if (!line) throw emptyInput();
        begin(line);
      }
      const { scanner } = input!;
      endFeed(input!);
      const { rows } = scanner.rows;
      if (!header && rows === 0) throw emptyInput();
      if (header && rows !== header[0]) {
        failAt(
          scanner,
          1,
          "ROW_COUNT",
          `the header says ${header[0]} rows, but the text ends after ${rows}. Is the file cut off?`,
        );
      }
      return resultOf("xc", scanner, options, {
        features: features ?? header?.[1] ?? scanner.rows.features,
        labels: labels ?? header?.[2] ?? scanner.rows.labelCount,
        labelNames: null,
      });
    },
  };
}

/**
 * Reads XC text (see `createXcReader`). A string or bytes are read at once, a stream in bounded
 * memory: what the data set takes, twice at the end, plus one chunk.
 *
 * @throws SparseError see the README for codes.
 */
export function readXc(
  text: string | Uint8Array,
  options: XcOptions & { readonly shared: true },
): ReadResult<SharedArrayBuffer>;
export function readXc(text: string | Uint8Array, options?: XcOptions): ReadResult;
export function readXc(
  stream: ByteStream,
  options: XcOptions & { readonly shared: true },
): Promise<ReadResult<SharedArrayBuffer>>;
export function readXc(stream: ByteStream, options?: XcOptions): Promise<ReadResult>;
export function readXc(
  input: string | Uint8Array | ByteStream,
  options: XcOptions = {},
): ReadResult | Promise<ReadResult> {
  return readAll(createXcReader(options), input);
}
