import type { ReadResult, TextReader } from "../read-options.js";

/** Bytes that arrive over time. */
export type ByteStream = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

const STRING_PIECE = 65_536;

/** Reads a whole text: strings and bytes at once, streams as they come. */
export function readAll(
  reader: TextReader,
  input: string | Uint8Array | ByteStream,
): ReadResult | Promise<ReadResult> {
  if (typeof input === "string") {
    const encoder = new TextEncoder();
    for (let at = 0; at < input.length; at += STRING_PIECE) {
      reader.push(encoder.encode(input.slice(at, at + STRING_PIECE)));
    }
    return reader.finish();
  }
  if (input instanceof Uint8Array) {
    reader.push(input);
    return reader.finish();
  }
  return readStream(reader, input);
}

async function readStream(reader: TextReader, input: ByteStream): Promise<ReadResult> {
  for await (const bytes of Symbol.asyncIterator in input ? input : chunksOf(input)) {
    reader.push(bytes);
  }
  return reader.finish();
}

/** A web stream's chunks, where it is no async iterable by itself (some browsers). */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
