import { describe, expect, test } from "vitest";
import { seriesOf } from "../../test/figures.js";
import { shortRun, startEvent } from "../../test/made-up-run.js";
import { createDocument } from "../files/document.js";
import { pageHtml } from "./page.js";
import { runSection } from "./run-section.js";

const document = createDocument();
const section = runSection(seriesOf(shortRun));
const pageOf = (...sections: readonly (typeof section)[]) =>
  pageHtml({ title: "A run", sections, notes: ["Made by hand"] }, document);

const levels = (html: string) => Array.from(html.matchAll(/<h(\d)/g), ([, level]) => Number(level));

describe.each([
  ["one run", pageOf(section)],
  ["several", pageOf(section, section)],
])("a page of %s", (_, html) => {
  test("has headings in order, none left out", () => {
    const found = levels(html);
    expect(found[0]).toBe(1);
    expect(found.filter((level) => level === 1)).toHaveLength(1);
    for (const [i, level] of found.slice(1).entries()) {
      expect(level).toBeLessThanOrEqual(found[i]! + 1);
    }
  });

  test("has every id once, and what it refers to is there", () => {
    const ids = Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of html.matchAll(/(?:href="#|aria-labelledby=")([^"]+)"/g)) {
      expect(ids).toContain(target);
    }
  });

  test("has for each chart a caption, two drawings and its data", () => {
    const count = (pattern: RegExp) => html.match(pattern)?.length ?? 0;
    const figures = count(/<figure /g);
    expect(count(/<figcaption>/g)).toBe(figures);
    // One is a table alone, for each run.
    const tables = count(/<div class="scroll"/g);
    expect(tables).toBe(figures);
    expect(count(/<details>/g)).toBe(count(/<div class="wide">/g));
    expect(count(/role="img"/g)).toBe(2 * count(/<details>/g));
  });

  test("needs nothing from elsewhere", () => {
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/<script|<link|<img|@import|url\(|https?:/);
  });
});

test("a page of a run that has only begun says so", () => {
  const html = pageOf(runSection(seriesOf([startEvent])));
  expect(html).toContain("nothing yet that a chart could show");
  expect(html).toContain("not finished, or broken off");
});

test("a page has what others call things as text", () => {
  const hostile = `"><img src=x onerror=alert(1)>`;
  const run = seriesOf([{ ...startEvent, algorithm: hostile }, ...shortRun.slice(1)], hostile);
  const html = pageHtml(
    { title: hostile, sections: [runSection(run)], notes: [hostile] },
    document,
  );
  expect(html).not.toContain("<img");
  expect(html).toContain("&lt;img src=x");
});
