/** A text cut into blocks of whole lines, as it arrives. */

/** Some whole lines of a text. */
export interface LineBlock {
  /** Number of its first line; counts from 1. */
  readonly firstLine: number;
  readonly bytes: Uint8Array;
  readonly lines: readonly string[];
}

const LINE_FEED = 0x0a;

/**
 * The lines of a text in blocks: as many as are there whenever bytes arrive, so that whoever writes
 * a line and waits gets his answer. The last line needs no line feed.
 *
 * @param maxLines - lines of a block.
 */
export async function* lineBlocks(
  source: AsyncIterable<Uint8Array>,
  maxLines: number,
): AsyncGenerator<LineBlock> {
  const decoder = new TextDecoder();
  let rest: Uint8Array = new Uint8Array(0);
  let firstLine = 1;

  function* blocksOf(bytes: Uint8Array): Generator<LineBlock> {
    let start = 0;
    while (start < bytes.length) {
      let end = start;
      let count = 0;
      while (count < maxLines && end < bytes.length) {
        const lineFeed = bytes.indexOf(LINE_FEED, end);
        end = lineFeed < 0 ? bytes.length : lineFeed + 1;
        count++;
      }
      const part = bytes.subarray(start, end);
      const lines = decoder.decode(part).split("\n");
      if (lines.length > count) lines.pop();
      yield { firstLine, bytes: part, lines };
      firstLine += count;
      start = end;
    }
  }

  for await (const chunk of source) {
    const lastLineFeed = chunk.lastIndexOf(LINE_FEED);
    if (lastLineFeed < 0) {
      rest = joined(rest, chunk);
      continue;
    }
    const whole = joined(rest, chunk.subarray(0, lastLineFeed + 1));
    rest = chunk.slice(lastLineFeed + 1);
    yield* blocksOf(whole);
  }
  yield* blocksOf(rest);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
