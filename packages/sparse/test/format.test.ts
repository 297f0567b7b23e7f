import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { datasetFromRows, readLibsvm, readXc } from "../src/index.js";

const space = fc.constantFrom(" ", "  ", "\t", " \t ");
const lineEnd = fc.constantFrom("\n", "\r\n", " \n", "\t\r\n", "\n\n", "\n \r\n");

/** One number, spelt in many ways. */
const value = fc
  .tuple(
    fc.constantFrom("", "+", "-"),
    fc.constantFrom(
      "7",
      "0",
      "12.",
      ".5",
      "00.25",
      "3.14159265",
      "0.1234567890123456789",
      "16777217",
    ),
    fc.constantFrom("", "", "e0", "E+2", "e-3", "e-20"),
  )
  .map((parts) => parts.join(""));

const label = fc
  .tuple(fc.constantFrom("", "+", "0"), fc.nat(30), fc.constantFrom("", ".0", ".", "e0"))
  .map(([sign, id, zeros]) => ({ id, text: `${sign}${id}${zeros}` }));

const row = fc.record({
  labels: fc.uniqueArray(label, { selector: ({ id }) => id, maxLength: 4 }),
  features: fc.uniqueArray(fc.tuple(fc.nat(60), value), {
    selector: ([index]) => index,
    minLength: 1,
    maxLength: 9,
  }),
  gaps: fc.array(space, { minLength: 10, maxLength: 10 }),
  indent: fc.constantFrom("", " ", "\t "),
  end: lineEnd,
});

const text = fc.array(row, { maxLength: 8 });
type Rows = typeof text extends fc.Arbitrary<infer T> ? T : never;

function spell(rows: Rows, indexBase: number): string {
  return rows
    .map(({ labels, features, gaps, indent, end }) => {
      const tokens = features.map(([index, number]) => `${index + indexBase}:${number}`);
      if (labels.length > 0) tokens.unshift(labels.map((each) => each.text).join(","));
      return indent + tokens.map((token, i) => (i > 0 ? gaps[i] : "") + token).join("") + end;
    })
    .join("");
}

function expected(rows: Rows) {
  return datasetFromRows(
    rows.map(({ labels, features }) => ({
      labels: labels.map(({ id }) => id),
      features: features.map(([index, number]): [number, number] => [index, Number(number)]),
    })),
    { features: 61, labels: 31 },
  );
}

describe("a reader", () => {
  it("finds the rows in XC text, however they are spelt and spaced", () => {
    fc.assert(
      fc.property(text, (rows) => {
        const { dataset } = readXc(`${rows.length} 61 31\n${spell(rows, 0)}`);
        expect(dataset.buffer).toEqual(expected(rows).buffer);
      }),
      { seed: 1, numRuns: 400 },
    );
  });

  it("finds the rows in LIBSVM text, however they are spelt and spaced", () => {
    fc.assert(
      fc.property(
        text.filter((rows) => rows.length > 0),
        (rows) => {
          const options = { features: 61, labels: 31, labelValues: "ids" } as const;
          const { dataset } = readLibsvm(spell(rows, 1), options);
          expect(dataset.buffer).toEqual(expected(rows).buffer);
        },
      ),
      { seed: 2, numRuns: 400 },
    );
  });
});
