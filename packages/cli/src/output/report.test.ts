import type { DeviceSummary } from "@heterosgd/trainer";
import { expect, test } from "vitest";
import { deviceLines, evaluatedWords, metricLines, metricsDocument } from "./report.js";

const metrics = {
  cutoffs: [1, 3],
  rows: 1200,
  rowsWithoutLabels: 12,
  precision: [0.5, 0.25],
  ndcg: [0.5, 0.4],
  recall: [0.1, 0.2],
};

test("metrics by name", () => {
  expect(metricsDocument(metrics)).toEqual({
    "P@1": 0.5,
    "P@3": 0.25,
    "nDCG@1": 0.5,
    "nDCG@3": 0.4,
    "R@1": 0.1,
    "R@3": 0.2,
    rows: 1200,
    rowsWithoutLabels: 12,
  });
  expect(metricLines(metrics)[0]).toMatch(/^P@1 +0\.5000 +P@3 +0\.2500$/);
});

test("says what was evaluated, and how rows without labels count", () => {
  expect(evaluatedWords("test", metrics)).toBe(
    "on the test set (1,200 rows, of which 12 without labels count as 0)",
  );
  expect(evaluatedWords("validation", { ...metrics, rowsWithoutLabels: 0 })).toBe(
    "on the held-out part of the training rows (1,200 rows)",
  );
});

const device: DeviceSummary = {
  device: 0,
  name: "device 0 (cpu)",
  kernels: "plain",
  rows: 750,
  updates: 6,
  rowsPerSecond: 1234.5,
  batchRows: 128,
  weight: 0.75,
  leastWeight: 0.7,
  staleness: null,
  usage: { training: 6, evaluating: 2, merging: 1, waiting: 1 },
  lost: null,
  replaces: null,
};

test("each device's time is split to a hundred percent", () => {
  const lost = { ...device, rows: 250, batchRows: null, weight: null, lost: "gone" };
  const lines = deviceLines([device, lost]);
  const empty = lines.indexOf("");
  const [work, time] = [lines.slice(0, empty), lines.slice(empty + 1)];
  expect(work.map((line) => line.split(/ {2,}/))).toEqual([
    ["device", "rows", "share", "updates", "rows/s", "batch", "last weight"],
    ["device 0 (cpu)", "750", "75.0 %", "6", "1,235", "128", "0.750"],
    ["device 0 (cpu)", "250", "25.0 %", "6", "1,235", "-", "-"],
  ]);
  expect(time.map((line) => line.split(/ {2,}/))).toEqual([
    ["device", "kernels", "training", "evaluating", "merging", "waiting"],
    ["device 0 (cpu)", "plain", "60.0 %", "20.0 %", "10.0 %", "10.0 %"],
    ["device 0 (cpu)", "plain", "lost"],
  ]);
});

test("what each device did fits 80 columns", () => {
  const many = {
    ...device,
    name: "device 10 (cpu@0.25)",
    rows: 9_999_999,
    updates: 99_999,
    rowsPerSecond: 999_999,
  };
  for (const line of deviceLines([many])) expect(line.length).toBeLessThanOrEqual(80);
});

test("updates that are not weighed are shown with their share and staleness", () => {
  const unweighed = { ...device, weight: null, leastWeight: null };
  const lines = deviceLines([
    { ...unweighed, updates: 30, staleness: 1.5 },
    { ...unweighed, updates: 10 },
  ]);
  expect(lines.filter((line) => line !== "").map((line) => line.split(/ {2,}/))).toEqual(
    expect.arrayContaining([
      ["device", "of all updates", "staleness"],
      ["device 0 (cpu)", "75.0 %", "1.50"],
      ["device 0 (cpu)", "25.0 %", "-"],
    ]),
  );
  const words = "of all updates";
  expect(deviceLines([device]).some((line) => line.includes(words))).toBe(false);
});
