import { describe, expect, test } from "vitest";
import { done, evaluation, merge, shortRun, startEvent } from "../../test/made-up-run.js";
import { seriesOf } from "../../test/figures.js";
import { contestantsOf } from "../series/contestants.js";
import { comparisonFigures } from "./comparison-figures.js";
import type { Figure, LinesChart } from "./figure.js";
import { runFigures } from "./run-figures.js";

const ids = (figures: readonly Figure[]) => figures.map(({ id }) => id);
const find = (figures: readonly Figure[], id: Figure["id"]) =>
  figures.find((figure) => figure.id === id)!;

describe("the figures of a run", () => {
  test("are those that it has data for, in the order of all", () => {
    expect(ids(runFigures(seriesOf(shortRun)))).toEqual([
      "time-to-accuracy",
      "time-to-target",
      "accuracy-by-rows",
      "loss",
      "batch-size",
      "updates",
      "weights",
      "busy",
      "utilisation",
      "shares",
    ]);
    expect(ids(runFigures(seriesOf([startEvent])))).toEqual([]);
    expect(ids(runFigures(seriesOf([])))).toEqual([]);
    expect(ids(runFigures(seriesOf(shortRun.slice(0, 4))))).toEqual(["loss", "busy", "shares"]);
  });

  test("have values, units and words of the run", () => {
    const figures = runFigures(seriesOf(shortRun));
    const { chart, table, description, caption } = find(figures, "time-to-accuracy");
    expect(chart).toMatchObject({
      x: { label: "time (s)" },
      lines: [
        {
          label: "P@1",
          points: [
            { x: 1.25, y: 0.25 },
            { x: 2.25, y: 0.5 },
          ],
        },
        { label: "P@3" },
      ],
    });
    expect(table.rows).toEqual([
      ["P@1", "1.25", "0.250"],
      ["P@1", "2.25", "0.500"],
      ["P@3", "1.25", "0.200"],
      ["P@3", "2.25", "0.400"],
    ]);
    expect(description).toContain("P@1: 0.250 at 1.25, 0.500 at 2.25, between 0.250 and 0.500");
    expect(caption).toContain("200 evaluation rows");
    expect(caption).not.toContain("simulated");
    expect(find(figures, "shares").table.rows).toEqual([
      ["updates", "60.0 %", "40.0 %"],
      ["rows", "66.7 %", "33.3 %"],
    ]);
    expect(find(figures, "utilisation").table.rows).toEqual([
      ["fast", "66.7 %", "11.1 %", "11.1 %", "11.1 %"],
      ["slow", "66.7 %", "11.1 %", "22.2 %", "0.0 %"],
    ]);
    expect(find(figures, "busy").table.rows[0]!.slice(4, 8)).toEqual([
      "100.0 %",
      "44.4 %",
      "44.4 %",
      "100.0 %",
    ]);
  });

  test("call simulated times simulated, on the axis and in the caption", () => {
    const simulated = { profile: "four-v100", measured: false };
    const figures = runFigures(seriesOf([{ ...startEvent, simulated }, ...shortRun.slice(1)]));
    const timed = figures.filter(({ id }) => id !== "accuracy-by-rows");
    for (const { id, caption } of timed) expect(caption, id).toContain("All times are simulated.");
    const axes = timed.flatMap(({ chart }) =>
      chart === null || chart.kind === "bars" ? [] : [chart.x.label],
    );
    expect(axes.length).toBeGreaterThan(4);
    expect(new Set(axes)).toEqual(new Set(["simulated time (s)"]));
  });

  test("draw some of many devices, those with the most and the fewest updates among them", () => {
    const count = 40;
    const devices = Array.from({ length: count }, (_, device) => ({
      device,
      name: `d${device}`,
      kernels: "",
    }));
    const parts = devices.map(({ device }) => [8, 8, (device * 7) % count, 1 / count] as const);
    const figures = runFigures(
      seriesOf([{ ...startEvent, devices }, done(11, 0, 8, 1, 8), merge(11, parts)]),
    );
    const { chart, caption } = find(figures, "updates");
    const { lines } = chart as LinesChart;
    expect(lines).toHaveLength(12);
    expect(lines[0]!.points[0]!.y).toBe(39);
    expect(lines.at(-1)!.points[0]!.y).toBe(0);
    expect(caption).toContain("12 of the 40 devices are drawn");
  });
});

describe("the figures of a comparison", () => {
  const runOf = (name: string, seed: number, last: number) =>
    seriesOf(
      [{ ...startEvent, seed }, ...shortRun.slice(1, -4), evaluation(12.25, 450, [last])],
      name,
    );

  test("show seeds as a median with its range", () => {
    const contestants = contestantsOf([
      runOf("adaptive", 1, 0.5),
      runOf("adaptive", 2, 0.75),
      runOf("sync", 1, 0.625),
    ]);
    const figures = comparisonFigures(contestants);
    expect(ids(figures)).toEqual([
      "time-to-accuracy",
      "time-to-target",
      "accuracy-by-rows",
      "shares",
    ]);
    const { chart, caption } = find(figures, "time-to-accuracy");
    const { lines } = chart as LinesChart;
    expect(lines.map(({ label, look, parts = [] }) => [label, look, parts.length])).toEqual([
      ["adaptive", 0, 2],
      ["sync", 1, 0],
    ]);
    expect(lines[0]!.points.at(-1)).toEqual({ x: 2.25, y: 0.625 });
    expect(lines[0]!.band!.at(-1)).toEqual({ x: 2.25, low: 0.5, high: 0.75 });
    expect(caption).toContain("bands reach from the lowest to the highest");
  });

  test("tell the targets that are asked for", () => {
    const contestants = contestantsOf([runOf("adaptive", 1, 0.5), runOf("sync", 1, 0.625)]);
    const targets = [
      { label: "the best of sync", of: (seed: number | null) => (seed === 1 ? 0.625 : null) },
    ];
    const { rows } = find(comparisonFigures(contestants, { targets }), "time-to-target").table;
    expect(rows).toEqual([
      ["the best of sync", "adaptive", "0.5000", "never", "1", "0.00"],
      ["the best of sync", "sync", "0.6250", "2.25 s", "–", "1"],
    ]);
  });

  test("are none where there is nothing to compare", () => {
    expect(comparisonFigures([])).toEqual([]);
    expect(comparisonFigures(contestantsOf([seriesOf([startEvent])]))).toEqual([]);
  });
});
