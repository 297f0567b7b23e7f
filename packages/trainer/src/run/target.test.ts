import { expect, test } from "vitest";
import { metricValue, parseTarget } from "./target.js";

const metrics = {
  cutoffs: [1, 3],
  rows: 10,
  rowsWithoutLabels: 0,
  precision: [0.5, 0.25],
  ndcg: [0.5, 0.4],
  recall: [0.1, 0.2],
};

test("a target names metric, cut-off and value", () => {
  expect(parseTarget("P@1>=0.6")).toEqual({ metric: "P", k: 1, atLeast: 0.6 });
  expect(parseTarget(" nDCG@5 >= 1.0 ")).toEqual({ metric: "nDCG", k: 5, atLeast: 1 });
});

test.each(["P@1", "P@1>0.6", "P>=0.6", "MAP@1>=0.6", "P@1>=2", "P@1>=x", ""])(
  "%j is refused",
  (text) => {
    expect(() => parseTarget(text)).toThrowError(expect.objectContaining({ code: "BAD_OPTION" }));
  },
);

test("the metric's value is found by its cut-off", () => {
  expect(metricValue(metrics, parseTarget("P@3>=0.1"))).toBe(0.25);
  expect(metricValue(metrics, parseTarget("nDCG@3>=0.1"))).toBe(0.4);
  expect(metricValue(metrics, parseTarget("R@1>=0.1"))).toBe(0.1);
  expect(() => metricValue(metrics, parseTarget("P@5>=0.1"))).toThrow("cut-offs are 1, 3");
});
