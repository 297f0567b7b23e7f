import { expect, test } from "vitest";
import { describeSet, summarise, type ContestantResult, type SetResult } from "./step-report.js";

const shape = { features: 10, labels: 1000, hidden: 10, rows: 100, nonZeros: 3, batches: 1 };

function contestant(name: string, threads: number, wall: number): ContestantResult {
  return {
    name,
    threads,
    bf16: name.includes("bf16"),
    ours: !name.includes("torch"),
    runs: name,
    documented: name.includes("torch") ? null : 100,
    memory: { baseline: 50, peak: 170 },
    // A slow round changes rates, not ratios.
    steps: [1, 1, 3].map((factor) => ({ wall: wall * factor, cpu: wall * factor * threads })),
  };
}

const results = [
  contestant("torch", 1, 0.1),
  contestant("torch-2-threads", 2, 0.08),
  contestant("torch-bf16-2-threads", 2, 0.04),
  contestant("native", 1, 0.05),
  contestant("native-2-threads", 2, 0.025),
];
const set: SetResult = { name: "made up", shape, results, missing: [], peaks: [0.12, 0.3, 0.12] };

test("each is compared with PyTorch of as many threads, in the same rounds", () => {
  const two = summarise(results[4]!, set);
  expect(two.rowsPerSecond.median).toBeCloseTo(4000);
  expect(two.rowsPerCpuSecond).toBeCloseTo(2000);
  expect(two.timesTorch).toBeCloseTo(3.2);
  expect(two.timesTorchCpu).toBeCloseTo(3.2);
  expect(two.timesTorchBf16).toBeCloseTo(1.6);
  expect(two.timesOneThread).toBeCloseTo(2);
  // 6 · 1000 · 10 operations a row, 4000 rows a second, two cores of 0.12 GFLOP/s.
  expect(two.peakShare).toBeCloseTo(1);
  expect(two.memoryBytes).toBe(120);
  expect(two.timesDocumented).toBeCloseTo(1.2);
});

test("who has nobody to be compared with is not compared", () => {
  const one = summarise(results[0]!, { ...set, peaks: [] });
  expect(one).toMatchObject({
    timesTorch: null,
    timesTorchBf16: null,
    timesOneThread: null,
    peakShare: null,
    timesDocumented: null,
  });
});

test("who could not take part is named with the reason", () => {
  const missing = [{ name: "torch", reason: "no module named torch" }];
  expect(describeSet({ ...set, missing })).toContain("not measured: torch: no module named torch");
});
