import { describe, expect, it } from "vitest";
import { addMetrics, createMetrics, mergeMetrics, metricsOf } from "./ranking.js";

/** Label sets as a batch holds them. */
function batchOf(rows: readonly (readonly number[])[]) {
  const labelOffsets = [0];
  for (const row of rows) labelOffsets.push(labelOffsets.at(-1)! + row.length);
  return {
    rows: rows.length,
    labelOffsets: Uint32Array.from(labelOffsets),
    labels: Uint32Array.from(rows.flat()),
  };
}

function evaluate(
  labels: readonly number[][],
  ids: readonly number[],
  k: number,
  cutoffs = [1, 3, 5],
) {
  const sums = createMetrics(cutoffs);
  addMetrics(sums, batchOf(labels), Uint32Array.from(ids), k);
  return metricsOf(sums);
}

describe("ranking metrics", () => {
  it("agree with a case worked by hand", () => {
    // Labels {2, 7} of five predictions 7, 1, 2, 9, 4: hits at ranks 1 and 3.
    const { precision, ndcg, recall } = evaluate([[2, 7]], [7, 1, 2, 9, 4], 5);
    expect(precision).toEqual([1, 2 / 3, 2 / 5]);
    expect(recall).toEqual([1 / 2, 1, 1]);
    // Gain 1 + 1/log2(4) = 1.5; ideal for two labels 1 + 1/log2(3) = 1.63093.
    expect(ndcg[0]).toBe(1);
    expect(ndcg[1]).toBeCloseTo(0.919721, 6);
    expect(ndcg[2]).toBeCloseTo(0.919721, 6);
  });

  it("divide precision by k even where a row has fewer labels", () => {
    const { precision, ndcg, recall } = evaluate([[3]], [3, 0, 1], 3, [3]);
    expect(precision).toEqual([1 / 3]);
    expect(ndcg).toEqual([1]);
    expect(recall).toEqual([1]);
  });

  it("normalise nDCG by k where a row has more labels", () => {
    const { precision, ndcg, recall } = evaluate([[0, 1, 2, 3, 4, 5]], [5, 9], 2, [2]);
    expect(precision).toEqual([1 / 2]);
    expect(recall).toEqual([1 / 6]);
    expect(ndcg[0]).toBeCloseTo(1 / (1 + 1 / Math.log2(3)), 12);
  });

  it("count rows without labels as wrong, and say how many there were", () => {
    const metrics = evaluate([[0], []], [0, 1, 0, 1], 2, [1]);
    expect(metrics).toMatchObject({
      rows: 2,
      rowsWithoutLabels: 1,
      precision: [0.5],
      ndcg: [0.5],
      recall: [0.5],
    });
  });

  it("take missing predictions as wrong where there are fewer classes than the cut-off", () => {
    const { precision } = evaluate([[1]], [1, 0], 2, [1, 3, 5]);
    expect(precision).toEqual([1, 1 / 3, 1 / 5]);
  });

  it("are the same whether rows are counted at once or in parts", () => {
    const labels = [[1, 4], [0], [], [2, 3, 4]];
    const ids = [4, 1, 1, 0, 2, 3, 4, 0];
    const whole = createMetrics([1, 2]);
    addMetrics(whole, batchOf(labels), Uint32Array.from(ids), 2);
    const parts = [0, 1, 2, 3].map((row) => {
      const part = createMetrics([1, 2]);
      addMetrics(
        part,
        batchOf([labels[row]!]),
        Uint32Array.from(ids.slice(2 * row, 2 * row + 2)),
        2,
      );
      return part;
    });
    expect(mergeMetrics(parts)).toEqual(whole);
    expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
  });

  it("are 0 over no rows", () => {
    expect(metricsOf(createMetrics([1])).precision).toEqual([0]);
  });

  it("refuse wrong cut-offs, too few ids and parts that don't match", () => {
    expect(() => createMetrics([3, 1])).toThrow(RangeError);
    expect(() => createMetrics([0])).toThrow(RangeError);
    expect(() => addMetrics(createMetrics(), batchOf([[1]]), new Uint32Array(2), 3)).toThrow(
      RangeError,
    );
    expect(() => mergeMetrics([createMetrics([1]), createMetrics([3])])).toThrow(RangeError);
    expect(() => mergeMetrics([])).toThrow(RangeError);
  });
});
