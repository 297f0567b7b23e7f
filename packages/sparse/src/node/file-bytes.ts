import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { SparseError, type SparseErrorCode } from "../errors.js";

const CHUNK_BYTES = 2 ** 18;
/** The longest of the signatures below. */
const SIGNATURE_BYTES = 6;

const GZIP = "1f8b";
/** So much is unpacked of anything; beyond it, no data is packed to less than this part of its size. */
const TRUSTED_BYTES = 2 ** 26;
const MOST_RATIO = 200;

/** First bytes of compressed files that are refused, with the command that unpacks them. */
const FOREIGN: readonly (readonly [signature: string, kind: string, command: string])[] = [
  ["425a68", "bzip2", "bunzip2"],
  ["fd377a585a00", "xz", "unxz"],
  ["28b52ffd", "zstd", "unzstd"],
  ["504b0304", "zip", "unzip"],
  ["377abcaf271c", "7z", "7z x"],
];

/**
 * The bytes of a file, unpacked if it is gzip (one member or several). Its first bytes tell that,
 * not its name. A little of the file is in memory at a time.
 *
 * @throws SparseError `FILE_NOT_FOUND`, `IS_DIRECTORY`, `NOT_READABLE`, `EMPTY_FILE`,
 *   `TRUNCATED_GZIP`, `CORRUPT_GZIP`, `TOO_LARGE` if it is packed as no data is,
 *   `UNSUPPORTED_COMPRESSION`.
 */
export async function* fileBytes(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const file: Readable = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    let empty = true;
    for await (const bytes of unpackedBytes(file as AsyncIterable<Uint8Array>, path)) {
      signal?.throwIfAborted();
      empty = false;
      yield bytes;
    }
    if (empty) throw emptyFile(path);
  } finally {
    file.destroy();
  }
}

/**
 * The bytes of a stream, unpacked if its first bytes are gzip's. As soon as they are not, they are
 * handed on as they arrive.
 *
 * @param source - the stream's name, for messages.
 * @throws SparseError as `fileBytes`, but for `EMPTY_FILE`.
 */
export async function* unpackedBytes(
  stream: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]();
  const start = await firstBytes(chunks, source);
  const hex = start.toString("hex", 0, SIGNATURE_BYTES);
  for (const [signature, kind, command] of FOREIGN) {
    if (!hex.startsWith(signature)) continue;
    const message = `${source} is a ${kind} file, which cannot be read. Unpack it with ${command}, or repack it with gzip.`;
    throw new SparseError("UNSUPPORTED_COMPRESSION", message);
  }
  const all = prepend(start, chunks, source);
  yield* hex.startsWith(GZIP) ? unzipped(all, source) : all;
}

function emptyFile(path: string): SparseError {
  return new SparseError("EMPTY_FILE", `${path} is empty. Is it the right file, and complete?`);
}

/** The next chunk, null at the end. */
async function next(chunks: AsyncIterator<Uint8Array>, path: string): Promise<Uint8Array | null> {
  try {
    const { done, value } = await chunks.next();
    return done ? null : value;
  } catch (error) {
    throw explainRead(error, path);
  }
}

/** As many bytes as it takes to tell whether they begin with a signature. */
async function firstBytes(chunks: AsyncIterator<Uint8Array>, path: string): Promise<Buffer> {
  const signatures = [GZIP, ...FOREIGN.map(([signature]) => signature)];
  let start = Buffer.alloc(0);
  for (;;) {
    const hex = start.toString("hex", 0, SIGNATURE_BYTES);
    const undecided = signatures.some(
      (signature) => signature.length > hex.length && signature.startsWith(hex),
    );
    const chunk = undecided ? await next(chunks, path) : null;
    if (!chunk) return start;
    start = Buffer.concat([start, chunk]);
  }
}

async function* prepend(
  start: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  if (start.length > 0) yield start;
  for (;;) {
    const chunk = await next(chunks, path);
    if (!chunk) return;
    yield chunk;
  }
}

async function* unzipped(
  packed: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  const input = Readable.from(packed, { objectMode: false, highWaterMark: CHUNK_BYTES });
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  let size = 0;
  input.on("error", (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  try {
    for await (const bytes of gunzip as AsyncIterable<Uint8Array>) {
      size += bytes.length;
      if (size > TRUSTED_BYTES && size > MOST_RATIO * gunzip.bytesWritten) throw bomb(path);
      yield bytes;
    }
  } catch (error) {
    throw explainGzip(error, path);
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}

function bomb(path: string): SparseError {
  const message = `${path} unpacks to more than ${MOST_RATIO} times its size, which no data set does. If it is one, unpack it with gunzip first.`;
  return new SparseError("TOO_LARGE", message);
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : String(error);
}

function explainGzip(error: unknown, path: string): unknown {
  const cause = error;
  if (codeOf(error) === "Z_BUF_ERROR") {
    const message = `${path} is cut off: its gzip data ends early. Fetch or copy it again.`;
    return new SparseError("TRUNCATED_GZIP", message, { cause });
  }
  if (codeOf(error).startsWith("Z_")) {
    const message = `${path} is damaged: its gzip data is wrong (${codeOf(error)}). Fetch or copy it again.`;
    return new SparseError("CORRUPT_GZIP", message, { cause });
  }
  return error;
}

const READ_ERRORS: Readonly<Record<string, readonly [SparseErrorCode, string]>> = {
  ENOENT: ["FILE_NOT_FOUND", "does not exist. Check the path."],
  ENOTDIR: ["FILE_NOT_FOUND", "does not exist: part of its path is no directory. Check the path."],
  EISDIR: ["IS_DIRECTORY", "is a directory, not a file. Name a file in it."],
};

function explainRead(error: unknown, path: string): SparseError {
  const [code, reason] = READ_ERRORS[codeOf(error)] ?? [
    "NOT_READABLE",
    `cannot be read (${codeOf(error)}). Check its permissions.`,
  ];
  return new SparseError(code, `${path} ${reason}`, { cause: error });
}
