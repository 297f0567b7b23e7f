import {
  checkChoice,
  type LibsvmOptions,
  type TextFormat,
  type TextReader,
  type XcOptions,
} from "./read-options.js";
import {
  collect,
  type FirstLine,
  firstLine,
  type HeadCollector,
  parseXcHeader,
} from "./internal/first-line.js";
import { createLibsvmReader } from "./read-libsvm.js";
import { createXcReader } from "./read-xc.js";

/** What readers of either format understand; options of the other format are without effect. */
export interface TextOptions extends XcOptions, LibsvmOptions {
  /**
   * `"auto"`: XC if the first line that is not blank is three whole numbers, which no LIBSVM line
   * is, or if `header` is false; else LIBSVM. Default `"auto"`.
   */
  readonly format?: TextFormat | "auto" | undefined;
}

/**
 * A reader of XC or LIBSVM text, told apart by the first line where `format` does not say.
 *
 * @throws SparseError from `push` and `finish`; see the README for codes.
 */
export function createTextReader(options: TextOptions = {}): TextReader {
  const { format = "auto", header = true, source = "text" } = options;
  checkChoice("format", format, ["auto", "xc", "libsvm"]);
  if (format === "xc" || (format === "auto" && !header)) return createXcReader(options);
  if (format === "libsvm") return createLibsvmReader(options);

  const head: HeadCollector = { bytes: new Uint8Array(0) };
  let reader: TextReader | null = null;

  function begin(line: FirstLine | null): TextReader {
    // Up to a carriage return, wherever it is: the reader of the right format says what is wrong
    // there.
    const isXc = line !== null && parseXcHeader(line.text.replace(/\r.*$/s, "")) !== null;
    const chosen = isXc ? createXcReader(options) : createLibsvmReader(options);
    chosen.push(head.bytes);
    head.bytes = new Uint8Array(0);
    return chosen;
  }

  return {
    push(bytes) {
      if (reader) {
        reader.push(bytes);
        return;
      }
      const line = collect(head, bytes, source);
      if (line) reader = begin(line);
    },
    finish() {
      reader ??= begin(firstLine(head.bytes, true));
      return reader.finish();
    },
  };
}
