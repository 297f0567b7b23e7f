import type { DeviceSummary } from "@heterosgd/trainer";
import { expect, test } from "vitest";
import type { FinishedRun } from "../run-command.js";
import { argumentsOf, outcomeOf } from "./heterosgd.js";

const settings = { threads: 2, batch: 256, hidden: 128, epochs: 5, rate: 0.01, maxSeconds: 60 };

test("the command trains the network that all train", () => {
  expect(argumentsOf(["a", "--test", "b"], "cpu:2", settings).join(" ")).toBe(
    "a --test b --devices cpu:2 --batch 256 --hidden 128 --epochs 5 --learning-rate 0.01 " +
      "--optimizer adam --max-time 60 --checkpoint-every never",
  );
});

test("what a run took to start and to evaluate is no training", () => {
  const evaluation = (at: number, rows: number, precision: number) => ({
    at,
    type: "evaluation" as const,
    rows,
    metrics: {
      cutoffs: [1],
      rows: 10,
      rowsWithoutLabels: 0,
      precision: [precision],
      ndcg: [0],
      recall: [0],
    },
  });
  const usage = { training: 6, evaluating: 2, merging: 0, waiting: 0 };
  const devices = [{ usage }, { usage: { ...usage, evaluating: 1 } }, { usage: null }];
  const run = {
    done: [{ at: 3.5, seconds: 0.5 }, { at: 4 }],
    evaluations: [evaluation(7, 100, 0.5), evaluation(11, 200, 0.6)],
    end: { reason: "epochs", devices: devices as unknown as DeviceSummary[] },
  } as unknown as FinishedRun;
  expect(outcomeOf(run, 5)).toEqual({
    milestones: [
      { rows: 100, seconds: 3, precision: 0.5 },
      { rows: 200, seconds: 6, precision: 0.6 },
    ],
    peak: 5,
    stopped: false,
  });
});
