import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createLibsvmReader,
  createTextReader,
  createXcReader,
  readLibsvm,
  readXc,
  type TextReader,
} from "../src/index.js";
import { outcomeOf, rejectionOf, rowsOf } from "./support.js";

const encode = (text: string) => new TextEncoder().encode(text);

function inPieces(reader: TextReader, pieces: readonly Uint8Array[]): unknown {
  return outcomeOf(() => {
    for (const piece of pieces) {
      const copy = piece.slice();
      reader.push(copy);
      copy.fill(120); // a reader must not keep what it was given
    }
    return reader.finish();
  });
}

const READERS: readonly (readonly [string, () => TextReader])[] = [
  ["xc", () => createXcReader({ duplicates: "sum" })],
  ["xc without header", () => createXcReader({ header: false })],
  ["libsvm", () => createLibsvmReader({ features: 20, onWider: "drop" })],
  ["auto", () => createTextReader()],
];

const TEXTS = [
  "\uFEFF2 20 9\r\n1,2.0,+3 3:0.25\t13:1.0e-2  4:-7 \r\n\r\n 5:6.123456789012345678\r\n",
  "\uFEFF-1,+1 3:4.5 qid:7 1:.5# note, 1:2\n# only\n\n10 2:1e3 19:1 77:1",
  "\n\n1 5 5\n0 2:1 2:1\n",
  "1 5 5\n0 12:1.0e-0114:8.7\n",
  "1 0:1\n",
  "1, 2 3:4\n",
  "1 2:3,4 5:6\n",
  "1 2:3\r4:5\n",
  "2 5 5\n0 1:1\n",
  "0 5 5",
  "1 2:nan\n",
  "\u00e9\u4e2d 1:1\n",
  " ",
  "",
];

describe("a reader", () => {
  it.each(READERS)(
    "of %s gives the same result or error for a border at every place",
    (_name, create) => {
      for (const text of TEXTS) {
        const bytes = encode(text);
        const whole = inPieces(create(), [bytes]);
        for (let cut = 0; cut <= bytes.length; cut++) {
          const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
          expect(inPieces(create(), pieces), `${JSON.stringify(text)} cut at ${cut}`).toEqual(
            whole,
          );
        }
        const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
        expect(inPieces(create(), single), `${JSON.stringify(text)} byte by byte`).toEqual(whole);
      }
    },
  );

  it.each(READERS)(
    "of %s answers any bytes, cut anywhere, with the same result or coded error",
    (_name, create) => {
      const byte = fc.constantFrom(...encode("0123456789:::,,.-+e \t\n\n\r#aq\u00e9"));
      const lines = fc.array(fc.array(byte, { maxLength: 40 }), { maxLength: 4 });
      const cuts = fc.array(fc.nat(160), { maxLength: 5 });
      fc.assert(
        fc.property(
          fc.constantFrom("", "2 9 9\n", "\uFEFF", "1 1:1\n"),
          lines,
          cuts,
          (start, rest, places) => {
            const bytes = Uint8Array.of(...encode(start), ...rest.flatMap((line) => [...line, 10]));
            const borders = [0, ...places.toSorted((a, b) => a - b), bytes.length];
            const pieces = borders
              .slice(1)
              .map((end, i) => bytes.subarray(borders[i], Math.max(end, borders[i]!)));
            const joined = pieces.flatMap((piece) => [...piece]);
            fc.pre(joined.length === bytes.length);
            expect(inPieces(create(), pieces)).toEqual(inPieces(create(), [bytes]));
          },
        ),
        { seed: 7, numRuns: 800 },
      );
    },
  );

  it("reads the same from a string, bytes, an async iterable and a web stream", async () => {
    const text = `3 9 9\n1,2 3:4 5:6\n 7:8\n2 1:1 ${" ".repeat(70_000)} 2:2\n`;
    const bytes = encode(text);
    const pieces = [bytes.subarray(0, 9), bytes.subarray(9, 40_000), bytes.subarray(40_000)];
    async function* later(): AsyncGenerator<Uint8Array> {
      for (const piece of pieces) yield await Promise.resolve(piece);
    }
    const stream = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
    const plain = stream();
    const withoutIterator = { getReader: () => plain.getReader() } as ReadableStream<Uint8Array>;

    const expected = readXc(text);
    expect(rowsOf(expected.dataset).length).toBe(3);
    expect(readXc(bytes)).toEqual(expected);
    expect(await readXc(later())).toEqual(expected);
    expect(await readXc(stream())).toEqual(expected);
    expect(await readXc(withoutIterator)).toEqual(expected);
    expect(
      await readLibsvm(later(), { labelValues: "ids" }).catch((error: unknown) => error),
    ).toMatchObject({
      code: "BAD_TOKEN",
    });
  });

  it("lets a stream go after an error", async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(encode("x y z\n"));
      },
      cancel() {
        cancelled = true;
      },
    });
    expect((await rejectionOf(readXc(stream))).code).toBe("XC_HEADER");
    expect(cancelled).toBe(true);
  });
});
