import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkScaling, scaleBatches } from "./batch-size.js";
import type { BatchScaling, SizedDevice } from "./batch-size.js";

const bounds = { min: 32, max: 256 };

function device(
  batchRows: number,
  updates: number,
  { maxBatchRows = 1000, fixedRows = 0 }: Partial<SizedDevice> = {},
): SizedDevice {
  return { batchRows, updates, maxBatchRows, fixedRows };
}

describe("the relative rule", () => {
  it("changes the ratio of the sizes by the updates and lets the largest fill its bounds", () => {
    // ū = 3: 200·(1 + 0.6/3) = 240 and 200·(1 − 0.6/3) = 160, times 256/240.
    const sizes = scaleBatches(
      { rule: "relative", gain: 0.6 },
      [device(200, 4), device(200, 2)],
      bounds,
    );
    expect(sizes[0]).toBeCloseTo(256, 10);
    expect(sizes[1]).toBeCloseTo(170.667, 2);
  });

  it("finds the ratio of the speeds at once with a gain of 1", () => {
    const sizes = scaleBatches(
      { rule: "relative", gain: 1 },
      [device(256, 90), device(256, 45), device(256, 30)],
      bounds,
    );
    expect(sizes[0]).toBeCloseTo(256, 10);
    expect(sizes[1]).toBeCloseTo(128, 10);
    expect(sizes[2]).toBeCloseTo(256 / 3, 10);
  });

  it("brings sizes that chance has made small back to b_max", () => {
    expect(scaleBatches({ rule: "relative" }, [device(100, 5), device(50, 5)], bounds)).toEqual([
      256, 128,
    ]);
  });

  it("keeps a device with little memory within it, and the others in proportion", () => {
    const sizesWith = (maxBatchRows: number, batchRows: number) =>
      scaleBatches(
        { rule: "relative" },
        [device(maxBatchRows, 5, { maxBatchRows }), device(batchRows, 5)],
        bounds,
      );
    expect(sizesWith(64, 100)).toEqual([64, 100]);
    expect(sizesWith(8, 8)).toEqual([8, 32]);
  });

  it("shrinks no device below the size that keeps its throughput", () => {
    // Equal updates want 256 · 2/6; a step's fixed part is worth 256 rows, so half of a step of 256.
    const sizes = (throughput: number) =>
      scaleBatches(
        { rule: "relative", gain: 1, throughput },
        [device(256, 6), device(256, 2, { fixedRows: 256 })],
        bounds,
      );
    // b/(256 + b) = 0.75 · 256/512 at b = 153.6.
    expect(sizes(0.75)[0]).toBeCloseTo(256, 10);
    expect(sizes(0.75)[1]).toBeCloseTo(153.6, 10);
    // b/(256 + b) = 0.2 · 256/512 at 28.4, less than what is wanted.
    expect(sizes(0.2)[1]).toBeCloseTo(256 / 3, 10);
    expect(sizes(0)[1]).toBeCloseTo(256 / 3, 10);
  });

  it("grows a device back that is smaller than its throughput asks for", () => {
    // Where rows cost next to nothing, that is 0.9 of the largest batch, unless told otherwise.
    const sizesWith = (maxBatchRows: number) =>
      scaleBatches(
        { rule: "relative" },
        [device(256, 6), device(40, 5, { fixedRows: 1e9, maxBatchRows })],
        bounds,
      );
    expect(sizesWith(1000)[0]).toBe(256);
    expect(sizesWith(1000)[1]).toBeCloseTo(230.4, 4);
    expect(sizesWith(100)[1]).toBeCloseTo(90, 4);
  });

  it("gives a device without updates b_min", () => {
    expect(
      scaleBatches({ rule: "relative", gain: 1 }, [device(256, 9), device(256, 0)], bounds),
    ).toEqual([256, 32]);
  });
});

describe("the proportional rule", () => {
  it("moves by β for each update above or below the mean, β being b_min/2", () => {
    const devices = [device(100, 6), device(100, 4)];
    expect(scaleBatches({ rule: "proportional" }, devices, bounds)).toEqual([116, 84]);
    expect(scaleBatches({ rule: "proportional", step: 2.5 }, devices, bounds)).toEqual([
      102.5, 97.5,
    ]);
  });

  it("keeps a size as it is where the new one would be out of bounds", () => {
    const devices = [device(250, 6), device(40, 4), device(100, 5)];
    expect(scaleBatches({ rule: "proportional" }, devices, bounds)).toEqual([250, 40, 100]);
  });
});

describe("the fixed rule", () => {
  it("moves by β towards equal updates, whatever the distance, and no further than the bounds", () => {
    const devices = [device(250, 9), device(50, 3), device(100, 6)];
    expect(scaleBatches({ rule: "fixed" }, devices, bounds)).toEqual([256, 32, 100]);
    expect(scaleBatches({ rule: "fixed", step: 5 }, devices, bounds)).toEqual([255, 45, 100]);
  });
});

describe("every rule", () => {
  const rules: readonly BatchScaling[] = [
    { rule: "relative" },
    { rule: "proportional" },
    { rule: "fixed" },
    { rule: "off" },
  ];

  it("leaves sizes alone when nobody made an update", () => {
    const devices = [device(100, 0), device(50, 0)];
    for (const rule of rules) expect(scaleBatches(rule, devices, bounds)).toEqual([100, 50]);
  });

  it("keeps equal devices with equal updates at b_max", () => {
    const devices = [device(256, 7), device(256, 7), device(256, 7)];
    for (const rule of rules) expect(scaleBatches(rule, devices, bounds)).toEqual([256, 256, 256]);
  });

  it("stays within b_min, b_max and the device's memory", () => {
    const any = fc.record({
      fill: fc.double({ min: 0, max: 1, noNaN: true }),
      updates: fc.nat(200),
      maxBatchRows: fc.integer({ min: 1, max: 400 }),
      fixedRows: fc.double({ min: 0, max: 1e9, noNaN: true }),
    });
    const property = fc.property(fc.array(any, { minLength: 1 }), (list) => {
      const devices = list.map(({ fill, updates, maxBatchRows, fixedRows }) => {
        const max = Math.min(bounds.max, maxBatchRows);
        const min = Math.min(bounds.min, max);
        return { batchRows: min + fill * (max - min), updates, maxBatchRows, fixedRows, min, max };
      });
      for (const rule of rules) {
        scaleBatches(rule, devices, bounds).forEach((size, i) => {
          expect(size).toBeGreaterThanOrEqual(devices[i]?.min ?? Infinity);
          expect(size).toBeLessThanOrEqual(devices[i]?.max ?? 0);
        });
      }
    });
    fc.assert(property, { seed: 11, numRuns: 300 });
  });

  it("refuses constants out of range", () => {
    const invalid = expect.objectContaining({ code: "INVALID_OPTION" }) as Error;
    expect(() => checkScaling({ rule: "relative", gain: 1.5 })).toThrow(invalid);
    expect(() => checkScaling({ rule: "relative", throughput: 1 })).toThrow(invalid);
    expect(() => checkScaling({ rule: "relative", throughput: -0.1 })).toThrow(invalid);
    expect(() => checkScaling({ rule: "proportional", step: 0 })).toThrow(invalid);
    expect(() => checkScaling({ rule: "fixed", step: Number.NaN })).toThrow(invalid);
    for (const rule of rules) expect(() => checkScaling(rule)).not.toThrow();
  });
});
