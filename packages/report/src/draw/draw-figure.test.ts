import { describe, expect, test } from "vitest";
import { elementsOf, seriesOf } from "../../test/figures.js";
import { shortRun, startEvent } from "../../test/made-up-run.js";
import { contestantsOf } from "../series/contestants.js";
import { comparisonFigures } from "../figures/comparison-figures.js";
import { runFigures } from "../figures/run-figures.js";
import { createDocument } from "../files/document.js";
import { pngOf } from "../files/png.js";
import { drawFigure } from "./draw-figure.js";
import { pictureSvg } from "./picture.js";
import { serialise } from "./serialise.js";

const document = createDocument();
const run = seriesOf(shortRun);
const runs = [run, seriesOf(shortRun), seriesOf(shortRun, "other")];
const figures = [...runFigures(run), ...comparisonFigures(contestantsOf(runs))];
const charts = figures.filter(({ chart }) => chart !== null);

describe.each(charts.map((figure) => [figure.id, figure] as const))("the chart %s", (_, figure) => {
  test.each([720, 340])(
    "is well-formed SVG of a width of %i, with a name and a description",
    (width) => {
      const svg = drawFigure(figure, { document, width });
      const text = serialise(svg);
      const names = elementsOf(text);
      expect(names[0]).toBe("svg");
      expect(
        names.filter((name) => ["path", "rect", "line"].includes(name)).length,
      ).toBeGreaterThan(5);
      expect(svg.getAttribute("viewBox")).toMatch(new RegExp(`^0 0 ${width} \\d+$`));
      expect(svg.getAttribute("role")).toBe("img");
      expect(svg.getAttribute("aria-label")).toContain(figure.title);
      expect(text).not.toMatch(/NaN|undefined|Infinity|<style|plot-/);
    },
  );

  test("names its axes", () => {
    const text = serialise(drawFigure(figure, { document }));
    const { chart } = figure;
    const labels = [chart!.x.label, ...(chart!.kind === "lines" ? [chart!.y.label] : [])];
    for (const label of labels) expect(text).toContain(`>${label}<`);
  });
});

test("lines have dashes, symbols and names besides their colours", () => {
  const weights = figures.find(({ id }) => id === "weights")!;
  const text = serialise(drawFigure(weights, { document }));
  expect(text).toContain('stroke-dasharray="7 3"');
  // In the legend, and at the end of the line.
  expect(text.match(/>slow</g)).toHaveLength(2);
  expect(serialise(drawFigure(weights, { document, width: 340 })).match(/>slow</g)).toHaveLength(1);
});

test("names are text, whatever they say", () => {
  const hostile = `</svg><script>alert("1")</script>&amp;'\u0000\ud800\u202e]]>`;
  const devices = [
    { device: 0, name: hostile, kernels: hostile },
    { device: 1, name: "x".repeat(10_000), kernels: "" },
  ];
  const odd = seriesOf(
    [{ ...startEvent, algorithm: hostile, devices }, ...shortRun.slice(1)],
    hostile,
  );
  for (const figure of runFigures(odd).filter(({ chart }) => chart !== null)) {
    const text = serialise(drawFigure(figure, { document, heading: true }));
    expect(elementsOf(text)).not.toContain("script");
    expect(text.length).toBeLessThan(60_000);
  }
});

describe("a picture", () => {
  test("has the charts below one another, with titles and both themes", () => {
    const svg = pictureSvg(charts.slice(0, 2), { document, title: 'a "title"' });
    expect(elementsOf(svg).filter((name) => name === "svg")).toHaveLength(3);
    expect(svg).toContain(">Accuracy over time<");
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).toContain('aria-label="a &quot;title&quot;"');
  });

  test("of one theme has no names of colours left", () => {
    const svg = pictureSvg(charts, { document, title: "t", theme: "dark" });
    expect(svg).not.toMatch(/var\(|currentColor/);
  });

  test("is drawn as PNG, twice as large, from XML that is checked strictly", async () => {
    const svg = pictureSvg(charts.slice(0, 1), { document, title: "t", theme: "light" });
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!;
    const png = Buffer.from(await pngOf(svg));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([2 * +width!, 2 * +height!]);
  });

  test("is refused where it would be larger than a memory holds", async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="20000"/>`;
    await expect(pngOf(svg)).rejects.toMatchObject({ code: "PNG_UNAVAILABLE" });
  });

  test("of tables alone is a mistake", () => {
    const tables = figures.filter(({ chart }) => chart === null);
    expect(() => pictureSvg(tables, { document, title: "t" })).toThrow(RangeError);
    expect(() => drawFigure(tables[0]!, { document })).toThrow(TypeError);
  });
});
