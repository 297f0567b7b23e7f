/** Rows of a text read a block at a time, for predictions: any length of input, bounded memory. */
import {
  createLibsvmReader,
  createXcReader,
  SparseError,
  type Dataset,
  type ReadResult,
  type TextOptions,
} from "@heterosgd/sparse";
import { lineBlocks, type LineBlock } from "./line-blocks.js";

/** Rows of one block. */
export interface RowBlock {
  readonly dataset: Dataset;
  /** Line of each row; counts from 1. */
  readonly lines: readonly number[];
  /** Values of features beyond the bound that were left out. */
  readonly droppedFeatures: number;
}

export interface RowStreamOptions {
  /** For messages. */
  readonly source: string;
  readonly format: "auto" | "xc" | "xc-rows" | "libsvm";
  /** What `auto` means where the text does not begin with an XC header. */
  readonly usual: "xc" | "libsvm";
  /**
   * As `textOptions` gives them; labels are read past, so bounds and names of labels do not matter.
   */
  readonly text: TextOptions;
  /** Rows of a block at most. */
  readonly maxRows: number;
}

const XC_HEADER = /^[ \t]*\d+[ \t]+\d+[ \t]+\d+[ \t]*\r?$/;

/**
 * Yields the rows as they arrive. A header of XC text is passed over, and so is a line that holds
 * nothing: it is no row.
 *
 * @throws SparseError with the line and column in the whole text.
 */
export async function* rowBlocks(
  input: AsyncIterable<Uint8Array>,
  options: RowStreamOptions,
): AsyncGenerator<RowBlock> {
  let format = options.format === "auto" || options.format === "xc-rows" ? null : options.format;
  if (options.format === "xc-rows") format = "xc";
  let mayBeHeader = options.format === "auto" || options.format === "xc";
  for await (let block of lineBlocks(input, options.maxRows)) {
    if (mayBeHeader) {
      const first = block.lines.findIndex((line) => line.replace(/^\uFEFF/, "").trim() !== "");
      if (first < 0) continue;
      mayBeHeader = false;
      if (XC_HEADER.test(block.lines[first]!.replace(/^\uFEFF/, ""))) {
        format = "xc";
        block = withoutLines(block, first + 1);
      }
    }
    format ??= options.usual;
    try {
      yield* readBlock(block, format, options);
    } catch (error) {
      // The rows before the line that is wrong are answered first.
      const good = error instanceof SparseError && error.at ? error.at.line - block.firstLine : 0;
      yield* readBlock(linesUpTo(block, good), format, options);
      throw error;
    }
  }
}

function withoutLines(block: LineBlock, count: number): LineBlock {
  return {
    firstLine: block.firstLine + count,
    bytes: block.bytes.subarray(endOfLines(block, count)),
    lines: block.lines.slice(count),
  };
}

function linesUpTo(block: LineBlock, count: number): LineBlock {
  return {
    firstLine: block.firstLine,
    bytes: block.bytes.subarray(0, endOfLines(block, count)),
    lines: block.lines.slice(0, count),
  };
}

function endOfLines({ bytes }: LineBlock, count: number): number {
  let end = 0;
  for (let i = 0; i < count; i++) {
    const lineFeed = bytes.indexOf(0x0a, end);
    end = lineFeed < 0 ? bytes.length : lineFeed + 1;
  }
  return end;
}

/** Numbers of the lines that are rows. */
function rowLines({ firstLine, lines }: LineBlock, format: "xc" | "libsvm"): readonly number[] {
  const nothing = format === "libsvm" ? /^\s*(#.*)?$/ : /^\s*$/;
  return lines.flatMap((line, i) => (nothing.test(line) ? [] : [firstLine + i]));
}

function* readBlock(
  block: LineBlock,
  format: "xc" | "libsvm",
  { source, text }: RowStreamOptions,
): Generator<RowBlock> {
  const lines = rowLines(block, format);
  if (lines.length === 0) return;
  const { features, labels: _labels, labelNames: _names, ...rest } = text;
  const options = { ...rest, features, labelValues: "names", source, header: false } as const;
  const reader = format === "xc" ? createXcReader(options) : createLibsvmReader(options);
  let result: ReadResult;
  try {
    reader.push(block.bytes);
    result = reader.finish();
  } catch (error) {
    throw atLine(error, block.firstLine - 1);
  }
  const { dataset, stats } = result;
  yield { dataset, lines, droppedFeatures: stats.droppedFeatures };
}

/** The error of a block as one of the whole text. */
function atLine(error: unknown, linesBefore: number): unknown {
  if (!(error instanceof SparseError) || error.at === null || linesBefore === 0) return error;
  const { source, line, column } = error.at;
  const message = error.message.slice(`${source}:${line}:${column}: `.length);
  return new SparseError(error.code, message, {
    at: { source, line: line + linesBefore, column },
    cause: error.cause,
  });
}
