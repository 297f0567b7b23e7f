import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { SparseError } from "../errors.js";
import type { TextFormat } from "../read-options.js";
import type { Dataset } from "../types.js";
import { writeLibsvm, type WriteLibsvmOptions, writeXc } from "../write-text.js";

/** `indexBase` and `labelNames` are for LIBSVM text only. */
export interface WriteFileOptions extends WriteLibsvmOptions {
  readonly format: TextFormat;
  /** Packs the text. Default: if the path ends in `.gz`. */
  readonly gzip?: boolean;
}

/**
 * Writes a data set as text. The file appears when it is complete, in place of an older one.
 *
 * @throws SparseError `NOT_WRITABLE`, and all that `writeXc` and `writeLibsvm` throw.
 */
export async function writeDatasetFile(
  path: string,
  dataset: Dataset,
  options: WriteFileOptions,
): Promise<void> {
  const { format, gzip = path.endsWith(".gz"), ...libsvm } = options;
  const text = format === "xc" ? writeXc(dataset) : writeLibsvm(dataset, libsvm);
  const partial = `${path}.partial`;
  const input = Readable.from(text);
  const output = createWriteStream(partial);
  try {
    await (gzip ? pipeline(input, createGzip(), output) : pipeline(input, output));
    await rename(partial, path);
  } catch (cause) {
    await rm(partial, { force: true });
    if (cause instanceof SparseError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SparseError("NOT_WRITABLE", `${path} cannot be written: ${reason}.`, { cause });
  }
}
