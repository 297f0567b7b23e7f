import { collectRun } from "@heterosgd/report";
import { expect, test } from "vitest";
import { progressWords, stateWords } from "./words.js";

const state = (phase: "starting" | "running" | "ended") => ({ phase, run: null });

test.each([
  [null, "connecting", "connecting …"],
  [state("starting"), "live", "The run is about to begin."],
  [state("running"), "live", "The run goes on."],
  [state("running"), "lost", "The connection is lost; trying again …"],
  // Nobody is asked any more.
  [state("ended"), "lost", "The run has ended."],
] as const)("%j, %s: %s", (told, connection, words) => {
  expect(stateWords(told, connection)).toBe(words);
});

test("how far it is, is said as far as it is known", () => {
  const collector = collectRun("run");
  expect(progressWords(collector.series())).toBe("");
  collector.event({
    at: 0,
    type: "start",
    algorithm: "sync",
    trainRows: 2000,
    devices: [{ device: 0, name: "device 0 (cpu)" }],
  });
  const rows = [{ epoch: 0, start: 0, count: 1500 }];
  collector.event({ at: 2, type: "done", device: 0, rows, nonZeros: 1, seconds: 1, loss: 3000 });
  expect(progressWords(collector.series())).toBe("epoch 0.75, 750 rows/s, loss 2.0000");
  const metrics = { cutoffs: [1, 3], precision: [0.5, 0.25], ndcg: [0, 0], recall: [0, 0] };
  collector.event({ at: 2, type: "evaluation", rows: 1500, metrics });
  expect(progressWords(collector.series())).toMatch(/, P@1 0\.5000, P@3 0\.2500$/u);
});
