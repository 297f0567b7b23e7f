import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeDefaults, normalizedMerge, paperMerge, uniformMerge } from "./index.js";
import type { MergeReplica } from "./index.js";

function replica(updates: number, batchRows: number, norm: number | null = null): MergeReplica {
  return { updates, batchRows, norm };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const replicas = fc.array(
  fc.record({
    updates: fc.nat(60),
    batchRows: fc.integer({ min: 1, max: 512 }),
    norm: fc.double({ min: 0, max: 20, noNaN: true }),
  }),
  { minLength: 1, maxLength: 8 },
);

describe("the normalised merge", () => {
  const { weigh } = normalizedMerge();

  it("weighs by updates where they differ, whatever the batch sizes", () => {
    const merged = weigh([replica(6, 16), replica(2, 128), replica(0, 64)], 10);
    expect(merged).toEqual({
      weights: [0.75, 0.25, 0],
      stateWeights: [0.75, 0.25, 0],
      perturbed: false,
    });
  });

  it("weighs by batch sizes where all made equally many updates, even none", () => {
    for (const updates of [5, 0]) {
      expect(weigh([replica(updates, 96), replica(updates, 32)], 10).weights).toEqual([0.75, 0.25]);
    }
  });

  it("weighs equal devices alike, and a single one fully", () => {
    expect(weigh([replica(3, 8), replica(3, 8)], 10).weights).toEqual([0.5, 0.5]);
    expect(weigh([replica(3, 8)], 10).weights).toEqual([1]);
  });

  it("has weights that sum to 1", () => {
    const property = fc.property(replicas, (list) => {
      expect(sum(weigh(list, 10).weights)).toBeCloseTo(1, 12);
    });
    fc.assert(property, { seed: 3 });
  });

  it("refuses to merge nothing", () => {
    const nothing = expect.objectContaining({ code: "NO_REPLICAS" }) as Error;
    expect(() => weigh([], 10)).toThrow(nothing);
    expect(() => uniformMerge().weigh([], 10)).toThrow(nothing);
  });
});

describe("the perturbation", () => {
  const rule = normalizedMerge({ perturbation: 0.1, normThreshold: 0.1 });

  it("favours the first of the busiest replicas at the cost of the first of the idlest", () => {
    const list = [replica(2, 8, 0.5), replica(4, 8, 0.5), replica(4, 8, 0.5), replica(2, 8, 0.5)];
    const { weights, stateWeights, perturbed } = rule.weigh(list, 10);
    expect(perturbed).toBe(true);
    expect(stateWeights).toEqual([2 / 12, 4 / 12, 4 / 12, 2 / 12]);
    expect(weights).toEqual([(2 / 12) * 0.9, (4 / 12) * 1.1, 4 / 12, 2 / 12]);
  });

  it("waits until every norm per parameter is below the threshold", () => {
    const list = (norm: number) => [replica(2, 8, 0.5), replica(4, 8, norm)];
    expect(rule.weigh(list(0.99), 10).perturbed).toBe(true);
    expect(rule.weigh(list(1), 10).perturbed).toBe(false);
    expect(rule.weigh(list(1), 11).perturbed).toBe(true);
    expect(rule.weigh(list(Number.NaN), 10).perturbed).toBe(false);
  });

  it("does nothing where updates are equal", () => {
    const { weights, perturbed } = rule.weigh([replica(4, 24, 0), replica(4, 8, 0)], 10);
    expect(perturbed).toBe(false);
    expect(weights).toEqual([0.75, 0.25]);
  });

  it("changes the weights' sum by δ (p_r − p_s), and the state's not at all", () => {
    let perturbations = 0;
    const property = fc.property(replicas, (list) => {
      const { weights, stateWeights, perturbed } = rule.weigh(list, 100);
      const spread = Math.max(...stateWeights) - Math.min(...stateWeights);
      expect(sum(weights)).toBeCloseTo(perturbed ? 1 + 0.1 * spread : 1, 12);
      expect(sum(stateWeights)).toBeCloseTo(1, 12);
      if (perturbed) perturbations++;
    });
    fc.assert(property, { seed: 5 });
    expect(perturbations).toBeGreaterThan(20);
  });

  it("asks for norms only if it is on, and then needs them", () => {
    expect(rule.needsNorm).toBe(true);
    expect(normalizedMerge().needsNorm).toBe(false);
    const missing = expect.objectContaining({ code: "MISSING_NORM" }) as Error;
    expect(() => rule.weigh([replica(1, 8, 0), replica(2, 8)], 10)).toThrow(missing);
  });
});

describe("the uniform merge", () => {
  it("weighs all replicas alike", () => {
    const weights = [0.25, 0.25, 0.25, 0.25];
    const list = [replica(9, 1), replica(0, 7), replica(1, 1), replica(1, 128)];
    expect(uniformMerge().weigh(list, 10)).toEqual({
      weights,
      stateWeights: weights,
      perturbed: false,
    });
    expect(uniformMerge()).toMatchObject({ needsNorm: false, momentum: 0 });
  });
});

describe("the options", () => {
  it("default to no perturbation and no momentum; the paper has its own", () => {
    expect(normalizedMerge()).toMatchObject({ needsNorm: false, momentum: 0 });
    expect(mergeDefaults).toEqual({ perturbation: 0, normThreshold: 0.1, momentum: 0 });
    expect(normalizedMerge(paperMerge)).toMatchObject({ needsNorm: true, momentum: 0.9 });
    expect(paperMerge).toEqual({ perturbation: 0.1, normThreshold: 0.1, momentum: 0.9 });
  });

  it.each([
    { perturbation: -0.1 },
    { perturbation: 1.1 },
    { perturbation: Number.NaN },
    { normThreshold: -1 },
    { momentum: 1 },
    { momentum: -0.1 },
  ])("refuse %o", (options) => {
    const invalid = expect.objectContaining({ code: "INVALID_OPTION" }) as Error;
    expect(() => normalizedMerge(options)).toThrow(invalid);
  });
});
