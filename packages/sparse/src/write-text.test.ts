import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../test/support.js";
import { datasetFromRows } from "./builder.js";
import { readLibsvm } from "./read-libsvm.js";
import { readXc } from "./read-xc.js";
import { writeLibsvm, writeXc } from "./write-text.js";

const text = (pieces: Iterable<string>) => [...pieces].join("");

const row = fc
  .record({
    features: fc.uniqueArray(
      fc.tuple(fc.nat(300), fc.float({ noNaN: true, noDefaultInfinity: true })),
      { selector: ([index]) => index, maxLength: 12 },
    ),
    labels: fc.uniqueArray(fc.nat(40), { maxLength: 5 }),
  })
  .filter(({ features, labels }) => features.length + labels.length > 0);

const shape = { features: 301, labels: 41 };

describe("writeXc", () => {
  it("writes a header and a line a row, values as short as can be", () => {
    const dataset = datasetFromRows(
      [
        {
          labels: [0, 3],
          features: [
            [1, 0.1],
            [4, -2],
          ],
        },
        { labels: [], features: [[0, 1e-10]] },
        { labels: [2], features: [] },
      ],
      { features: 5, labels: 4 },
    );
    expect(text(writeXc(dataset))).toBe("3 5 4\n0,3 1:0.1 4:-2\n 0:1e-10\n2\n");
  });

  it("is undone by readXc, whatever the rows", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const dataset = datasetFromRows(rows, shape);
        expect(readXc(text(writeXc(dataset))).dataset.buffer).toEqual(dataset.buffer);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it("writes many rows in pieces, those without features too", () => {
    const rows = Array.from({ length: 40_000 }, (_, i) => ({ features: [], labels: [i] }));
    const pieces = [...writeXc(datasetFromRows(rows))];
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000);
  });

  it("writes long rows in pieces", () => {
    const features = Array.from({ length: 30_000 }, (_, i): [number, number] => [i, i / 8]);
    const dataset = datasetFromRows([{ features, labels: [] }]);
    const pieces = [...writeXc(dataset)];
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000);
    expect(readXc(text(pieces)).dataset.features.values).toEqual(dataset.features.values);
  });

  it("refuses a row that would be a blank line", () => {
    const dataset = datasetFromRows([
      { features: [], labels: [1] },
      { features: [], labels: [] },
    ]);
    const error = errorOf(() => text(writeXc(dataset)));
    expect(error.code).toBe("EMPTY_ROW");
    expect(error.message).toContain("row 1 has neither");
  });
});

describe("writeLibsvm", () => {
  const dataset = datasetFromRows([
    { labels: [1], features: [[0, 0.5]] },
    { labels: [0], features: [[2, 3]] },
  ]);

  it("counts features from 1, or from 0 where asked to", () => {
    expect(text(writeLibsvm(dataset))).toBe("1 1:0.5\n0 3:3\n");
    expect(text(writeLibsvm(dataset, { indexBase: 0 }))).toBe("1 0:0.5\n0 2:3\n");
  });

  it("writes label names where given, if they are whole numbers", () => {
    expect(text(writeLibsvm(dataset, { labelNames: ["-1", "1"] }))).toBe("1 1:0.5\n-1 3:3\n");
    const error = errorOf(() => text(writeLibsvm(dataset, { labelNames: ["no", "yes"] })));
    expect(error.code).toBe("BAD_LABEL");
    expect(error.message).toContain('label 1 is named "yes"');
    expect(errorOf(() => text(writeLibsvm(dataset, { labelNames: [] }))).code).toBe("BAD_LABEL");
  });

  it("is undone by readLibsvm, whatever the rows", () => {
    const names = Array.from({ length: 41 }, (_, label) => String(3 * label - 20));
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
        const written = datasetFromRows(rows, shape);
        const ids = readLibsvm(text(writeLibsvm(written)), { ...shape, labelValues: "ids" });
        expect(ids.dataset.buffer).toEqual(written.buffer);
        const named = text(writeLibsvm(written, { labelNames: names, indexBase: 0 }));
        const options = { features: 301, indexBase: 0, labelNames: names } as const;
        expect(readLibsvm(named, options).dataset.buffer).toEqual(written.buffer);
      }),
      { seed: 2, numRuns: 200 },
    );
  });
});
