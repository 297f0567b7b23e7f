import type { ReadResult } from "../read-options.js";
import { createTextReader, type TextOptions } from "../read-text.js";
import { fileBytes } from "./file-bytes.js";

/** `source` is the path unless given. */
export interface FileOptions extends TextOptions {
  /** Stops the reading; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a data set from a file of XC or LIBSVM text, plain or gzip, in bounded memory: what the
 * data set takes, twice at the end.
 *
 * @throws SparseError `FILE_NOT_FOUND`, `IS_DIRECTORY`, `NOT_READABLE`, `EMPTY_FILE`,
 *   `TRUNCATED_GZIP`, `CORRUPT_GZIP`, `UNSUPPORTED_COMPRESSION`, and all that `createTextReader`
 *   throws.
 */
export async function readDatasetFile(
  path: string,
  options: FileOptions & { readonly shared: true },
): Promise<ReadResult<SharedArrayBuffer>>;
export async function readDatasetFile(path: string, options?: FileOptions): Promise<ReadResult>;
export async function readDatasetFile(
  path: string,
  options: FileOptions = {},
): Promise<ReadResult> {
  const reader = createTextReader({ ...options, source: options.source ?? path });
  for await (const bytes of fileBytes(path, options.signal)) reader.push(bytes);
  return reader.finish();
}
