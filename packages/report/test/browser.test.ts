/** Charts and pages in Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { launchChromium, withoutChromium } from "../../../test-support/chromium.js";
import { createDocument } from "../src/files/document.js";
import {
  comparisonFigures,
  contestantsOf,
  drawFigure,
  pageHtml,
  palettes,
  runFigures,
  runSection,
  serialise,
} from "../src/index.js";
import { seriesOf } from "./figures.js";
import { shortRun, startEvent } from "./made-up-run.js";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const document = createDocument();
const folder = mkdtempSync(join(tmpdir(), "heterosgd-page-"));
const file = join(folder, "page.html");
const address = pathToFileURL(file).href;

const long =
  "a name as long as nobody’s, and-without-any-place-where-a-line-could-be-broken-".repeat(4);
const named = [
  { device: 0, name: long, kernels: long },
  { device: 1, name: "slow", kernels: "plain" },
];
const runs = [
  seriesOf(shortRun, "adaptive-sgd"),
  seriesOf([{ ...startEvent, seed: 8, devices: named }, ...shortRun.slice(1)], "adaptive-sgd"),
  seriesOf(shortRun, long),
];
const comparison = {
  title: "Comparison",
  facts: [["adaptive-sgd", "2 runs"]] as const,
  figures: comparisonFigures(contestantsOf(runs)),
};
writeFileSync(
  file,
  pageHtml(
    { title: long, sections: [comparison, ...runs.map(runSection)], notes: [long] },
    document,
  ),
);

afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(withoutChromium !== "")(`in Chromium${withoutChromium}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** The page, and all that it complained of or asked for besides itself. */
  async function open(options: BrowserContextOptions = {}) {
    const page = await browser.newPage({ viewport: { width: 1000, height: 800 }, ...options });
    const complaints: string[] = [];
    page.on("console", (message) => void complaints.push(message.text()));
    page.on("pageerror", (error) => void complaints.push(error.message));
    page.on("request", (asked) => {
      if (asked.url() !== address) complaints.push(`asked for ${asked.url()}`);
    });
    await page.goto(address);
    return { page, complaints };
  }

  test("a browser draws the same charts as linkedom, to the letter", async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
      bundle: true,
      write: false,
      format: "iife",
      globalName: "report",
      platform: "browser",
      target: "es2022",
      logLevel: "silent",
    });
    // Where pixels are large, Plot moves lines by half of one.
    const page = await browser.newPage({ deviceScaleFactor: 2 });
    await page.setContent("<!doctype html><title>charts</title>");
    await page.addScriptTag({ content: outputFiles[0]!.text });
    const figures = [...runFigures(runs[0]!), ...comparison.figures];
    const charts = figures.filter(({ chart }) => chart !== null);
    const drawn = await page.evaluate((all) => {
      const report = (globalThis as unknown as { report: typeof import("../src/index.js") }).report;
      return (all as typeof charts).map((figure) =>
        report.serialise(report.drawFigure(figure, { document: globalThis.document })),
      );
    }, charts as never);
    const sorted = (svg: string) =>
      // Documents keep attributes in orders of their own.
      svg.replaceAll(/<([\w-]+)((?: [\w:-]+="[^"]*")+)/g, (_, name: string, attributes: string) =>
        [
          `<${name}`,
          ...Array.from(attributes.matchAll(/ [\w:-]+="[^"]*"/g), String).toSorted(),
        ].join(""),
      );
    const expected = charts.map((figure) => sorted(serialise(drawFigure(figure, { document }))));
    for (const [i, svg] of drawn.map(sorted).entries()) {
      const differs = Array.from(svg, (letter, at) => letter !== expected[i]![at]).indexOf(true);
      const around = (text: string) => text.slice(Math.max(0, differs - 80), differs + 80);
      expect(around(svg), charts[i]!.id).toBe(around(expected[i]!));
      expect(svg.length).toBe(expected[i]!.length);
    }
    await page.close();
  });

  test("a page shows each chart once, with a name, and asks for nothing", async () => {
    const { page, complaints } = await open();
    const charts = page.getByRole("img");
    const count = await page.locator("figure:has(details)").count();
    expect(count).toBeGreaterThan(20);
    // Of the drawings for wide and for narrow pages one is there, for screen readers too.
    expect(await charts.count()).toBe(count);
    for (const name of [
      "Accuracy over time",
      "Batch size of each device",
      "When each device trains",
    ]) {
      const chart = page.getByRole("img", { name }).first();
      const box = await chart.boundingBox();
      expect(box!.width, name).toBeGreaterThan(600);
      expect(box!.height, name).toBeGreaterThan(90);
    }
    const figures = page.getByRole("figure", { name: "Merge weights" });
    expect(await figures.count()).toBe(3);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test.each([360, 768, 1280])(
    "a page of %i pixels is no wider than that, opened tables too",
    async (width) => {
      const { page } = await open({ viewport: { width, height: 700 } });
      await openAll(page);
      const widths = await page.evaluate(() => [
        globalThis.document.documentElement.scrollWidth,
        innerWidth,
      ]);
      expect(widths[0]).toBeLessThanOrEqual(widths[1]!);
      const letters = await page.evaluate(() => {
        const texts = [...globalThis.document.querySelectorAll("svg text")];
        const heights = texts.map((text) => text.getBoundingClientRect().height);
        return Math.min(...heights.filter((height) => height > 0));
      });
      // As large as small print, on a phone too.
      expect(letters).toBeGreaterThan(10);
      await page.close();
    },
  );

  test.each(["light", "dark"] as const)(
    "a %s page has that theme’s colours, in charts too",
    async (scheme) => {
      const { page } = await open({ colorScheme: scheme });
      const colours = await page.evaluate(() => {
        const of = (selector: string, name: "backgroundColor" | "color" | "stroke" | "fill") =>
          getComputedStyle(globalThis.document.querySelector(selector)!)[name];
        return {
          surface: of("body", "backgroundColor"),
          ink: of("body", "color"),
          s1: of('.wide svg [aria-label="line"]', "stroke"),
          label: of('.wide svg [aria-label="x-axis label"]', "fill"),
        };
      });
      const { surface, ink, s1, muted } = palettes[scheme];
      expect(colours).toEqual({
        surface: rgb(surface),
        ink: rgb(ink),
        s1: rgb(s1),
        label: rgb(muted),
      });
      await page.close();
    },
  );

  test("a page is printed on white, with all charts and no links, tables or scrollbars", async () => {
    const { page } = await open({ colorScheme: "dark" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const looks = await page.evaluate(() => ({
      surface: getComputedStyle(globalThis.document.body).backgroundColor,
      hidden: ["nav", "details", ".skip", ".narrow"].filter(
        (selector) =>
          getComputedStyle(globalThis.document.querySelector(selector)!).display !== "none",
      ),
      wide: getComputedStyle(globalThis.document.querySelector(".wide")!).display,
    }));
    expect(looks).toEqual({ surface: rgb(palettes.light.surface), hidden: [], wide: "block" });
    expect((await page.pdf()).byteLength).toBeGreaterThan(10_000);
    await page.close();
  });

  test("the keyboard reaches the charts, opens tables and scrolls them", async () => {
    const { page } = await open({ viewport: { width: 360, height: 700 } });
    const focused = () => page.evaluate(() => globalThis.document.activeElement!.outerHTML);
    await page.keyboard.press("Tab");
    expect(await focused()).toContain("Skip to the charts");
    const skip = await page.getByText("Skip to the charts").boundingBox();
    expect(skip!.x).toBeGreaterThanOrEqual(0);
    await page.keyboard.press("Enter");
    expect(await focused()).toMatch(/^<main id="content"/);
    await page.keyboard.press("Tab");
    expect(await focused()).toMatch(/^<summary>Data of “Accuracy over time”/);
    await page.keyboard.press("Enter");
    const region = page.getByRole("region", { name: "Table: Accuracy over time" }).first();
    await page.keyboard.press("Tab");
    expect(await region.evaluate((element) => element === globalThis.document.activeElement)).toBe(
      true,
    );
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(() => region.evaluate((element) => element.scrollLeft), { timeout: 60_000 })
      .toBeGreaterThan(0);
    await page.close();
  });
});

async function openAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of globalThis.document.querySelectorAll("details")) details.open = true;
  });
}

function rgb(hex: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return `rgb(${red}, ${green}, ${blue})`;
}
