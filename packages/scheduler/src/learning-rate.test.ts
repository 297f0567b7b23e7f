import { describe, expect, it } from "vitest";
import { checkSchedule, learningRateAt, learningRateOf, warmupFactor } from "./learning-rate.js";
import type { LearningRateSchedule } from "./learning-rate.js";

describe("a learning-rate schedule", () => {
  it("is constant", () => {
    expect(learningRateAt({ kind: "constant", rate: 0.3 }, 17.5)).toBe(0.3);
  });

  it("falls in steps, at the step's border already", () => {
    const schedule = { kind: "step", rate: 8, everyEpochs: 2, factor: 0.5 } as const;
    expect([0, 1.99, 2, 5.5].map((t) => learningRateAt(schedule, t))).toEqual([8, 8, 4, 2]);
  });

  it("falls along half a cosine and stays at its end", () => {
    const schedule = { kind: "cosine", rate: 1, epochs: 4, finalRate: 0.2 } as const;
    expect(learningRateAt(schedule, 0)).toBe(1);
    expect(learningRateAt(schedule, 2)).toBeCloseTo(0.6, 12);
    expect(learningRateAt(schedule, 1)).toBeCloseTo(0.6 + 0.4 * Math.SQRT1_2, 12);
    expect(learningRateAt(schedule, 4)).toBeCloseTo(0.2, 12);
    expect(learningRateAt(schedule, 9)).toBeCloseTo(0.2, 12);
    expect(learningRateAt({ kind: "cosine", rate: 1, epochs: 4 }, 4)).toBeCloseTo(0, 12);
  });

  it("falls inversely", () => {
    const schedule = { kind: "inverse", rate: 6, decay: 0.5 } as const;
    expect([0, 2, 4].map((t) => learningRateAt(schedule, t))).toEqual([6, 3, 2]);
  });

  it.each<LearningRateSchedule>([
    { kind: "constant", rate: 0 },
    { kind: "constant", rate: Number.NaN },
    { kind: "constant", rate: Infinity },
    { kind: "constant", rate: 3.5e38 },
    { kind: "step", rate: 1, everyEpochs: 0, factor: 0.1 },
    { kind: "step", rate: 1, everyEpochs: 1, factor: 0 },
    { kind: "cosine", rate: 1, epochs: 0 },
    { kind: "cosine", rate: 1, epochs: 1, finalRate: 2 },
    { kind: "inverse", rate: 1, decay: -1 },
  ])("refuses %o", (schedule) => {
    const invalid = expect.objectContaining({ code: "INVALID_OPTION" }) as Error;
    expect(() => checkSchedule(schedule)).toThrow(invalid);
  });

  it.each<LearningRateSchedule>([
    { kind: "constant", rate: 0.1 },
    { kind: "constant", rate: 3.4e38 },
    { kind: "step", rate: 1, everyEpochs: 0.5, factor: 0.1 },
    { kind: "cosine", rate: 1, epochs: 3, finalRate: 1 },
    { kind: "inverse", rate: 1, decay: 0 },
  ])("accepts %o", (schedule) => {
    expect(() => checkSchedule(schedule)).not.toThrow();
  });
});

describe("the warm-up factor", () => {
  it("rises linearly from 0 to 1 and stays there", () => {
    expect([0, 0.5, 1, 2, 3].map((t) => warmupFactor(t, 2))).toEqual([0, 0.25, 0.5, 1, 1]);
  });

  it("is 1 without a warm-up", () => {
    expect(warmupFactor(0, 0)).toBe(1);
  });
});

describe("the learning rate of a batch", () => {
  it("follows the schedule at its start and the warm-up at its end, in epochs", () => {
    const plan = { schedule: { kind: "inverse", rate: 6, decay: 1 }, warmupEpochs: 2 } as const;
    const rows = [
      { epoch: 1, start: 0, count: 10 },
      { epoch: 1, start: 30, count: 10 },
    ];
    // After one epoch 6/2; it ends, as far as rows are counted, at 1.5 of 2.
    expect(learningRateOf(plan, 40, rows)).toBeCloseTo(3 * 0.75, 12);
    expect(learningRateOf({ ...plan, warmupEpochs: 0 }, 40, rows)).toBe(3);
  });
});
