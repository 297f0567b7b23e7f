import { expect, test } from "vitest";
import type { Case } from "./case.js";
import { describeCase, figure, resultOf } from "./report.js";

const output: Case = {
  operation: "output",
  title: "output layer",
  unit: "GFLOP/s",
  amount: 10e9,
  limit: "peak",
  prepare: () => null,
};

const entrants = [
  { name: "plain", threads: 1 },
  { name: "native-avx2", threads: 1 },
  { name: "native-avx512", threads: 1 },
  { name: "native-2-threads", threads: 2 },
  { name: "openblas", threads: 1 },
];
/** Processor time is half of the clock's, so that the wrong one shows. */
const timings = [5, 0.5, 0.25, 0.125, 0.4].map((thread) =>
  [1, 1, 2].map((factor) => ({ wall: 2 * thread * factor, thread: thread * factor })),
);
const limits = new Map([
  ["peak avx2", [48]],
  ["peak avx512", [50, 50, 52]],
]);

test("one thread goes by processor time, two by the clock, and ratios by round", () => {
  const { results } = resultOf(output, entrants, timings, limits);
  const [plain, , avx512, two, openblas] = results;
  expect(plain!.rate.median).toBeCloseTo(2);
  expect(avx512!.rate.median).toBeCloseTo(40);
  expect(avx512!.milliseconds.median).toBeCloseTo(250);
  expect(two!.rate.median).toBeCloseTo(40);
  expect(avx512!.limitShare).toBeCloseTo(0.8);
  expect(two!.limitShare).toBeCloseTo(0.4);
  expect(avx512!.timesOpenBlas).toBeCloseTo(1.6);
  expect(avx512!.timesPlain).toBeCloseTo(20);
  expect(openblas!.timesOpenBlas).toBeNull();
  // Against the fastest instruction set, not the first; OpenBLAS with two threads did not run.
  expect(two!.timesOneThread).toBeCloseTo(1);
  expect(two!.timesOpenBlas).toBeNull();
});

test("without measured limits there is no share of them", () => {
  const { results } = resultOf(output, entrants, timings, new Map());
  expect(results.every(({ limitShare }) => limitShare === null)).toBe(true);
  expect(describeCase({ operation: "output", title: "x", unit: "GFLOP/s", results })).toContain(
    "native-2-threads",
  );
});

test("figures have about three digits", () => {
  expect([1234.5, 123.4, 12.34, 1.234].map(figure)).toEqual(["1,235", "123", "12.3", "1.23"]);
});
