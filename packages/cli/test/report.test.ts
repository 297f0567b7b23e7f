import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { run, temporaryFolder, writeEasyData } from "./command.js";

const folder = temporaryFolder();
const report = (...args: readonly string[]) => run(["report", ...args], { folder });
const page = (name: string) => readFileSync(join(folder, name), "utf8");

/** Titles of a page's figures. */
const titles = (html: string) =>
  Array.from(html.matchAll(/<figcaption><h\d id="[^"]*">([^<]*)</g), ([, title]) => title);

beforeAll(async () => {
  writeEasyData(folder);
  const options =
    "--test test.txt --devices gpu,gpu@0.5 --epochs 2 --batch 16 --hidden 8 --kernels plain --quiet";
  const trained = await Promise.all(
    [
      "--out runs/first --seed 1 --algorithm adaptive-sgd",
      "--out runs/second --seed 2 --algorithm adaptive-sgd",
      "--out runs/sync --seed 1 --algorithm sync",
    ].map((own) => run(`simulate train.txt ${options} ${own}`.split(" "), { folder })),
  );
  const failed = trained.find(({ code }) => code !== 0);
  if (failed !== undefined) throw new Error(failed.stderr);
}, 120_000);

const dataUrl = (script: string) => `data:text/javascript,${encodeURIComponent(script)}`;

/** Makes the optional package one that is not installed. */
const withoutResvg = `
  import { register } from "node:module";
  register("${dataUrl(`
    export const resolve = (name, context, next) =>
      next(name === "@resvg/resvg-js" ? "@resvg/none-such" : name, context);
  `)}");
`;

describe("a report", () => {
  test("of one run lies in its folder and has the charts that the run has data for", async () => {
    const { code, stdout, stderr } = await report("runs/first");
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "runs/first/report.html\n",
      stderr: "",
    });
    const html = page("runs/first/report.html");
    expect(titles(html)).toEqual([
      "Accuracy over time",
      "Time to target",
      "Accuracy by rows processed",
      "Training loss",
      "Batch size of each device",
      "Updates of each device",
      "Merge weights",
      "When each device trains",
      "What each device does with its time",
      "Each device’s share of the work",
    ]);
    expect(html).toContain("simulated by the profile four-v100, whose numbers are assumptions");
    expect(html).toContain("simulated time (ms)");
    expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
  });

  test("of several runs holds them against each other, seeds together", async () => {
    const { code, stdout } = await report(
      "runs/first",
      "runs/second",
      "runs/sync",
      "--out",
      "all.html",
      "--json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      file: "all.html",
      runs: [
        { path: "runs/first", name: "adaptive-sgd", seed: 1, finished: true },
        { path: "runs/second", name: "adaptive-sgd", seed: 2, finished: true },
        { path: "runs/sync", name: "sync", seed: 1, finished: true },
      ],
    });
    const html = page("all.html");
    expect(html).toContain("<h1>Comparison of 3 runs</h1>");
    expect(html).toContain("speed-up over sync");
    expect(html).toContain("bands reach from the lowest to the highest");
    expect(html).toContain(">adaptive-sgd, seed 2 (second)<");
  });

  test("is drawn as SVG and PNG, with the charts that are asked for", async () => {
    expect(
      await report("runs/first", "--only", "busy,batch-size", "--out", "some.svg"),
    ).toMatchObject({ code: 0 });
    const svg = page("some.svg");
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(svg.match(/role="img"/g)).toHaveLength(2);
    expect(await report("runs/first", "--only", "shares", "--out", "some.png")).toMatchObject({
      code: 0,
    });
    const png = readFileSync(join(folder, "some.png"));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    // Twice as wide as the drawing.
    expect(png.readUInt32BE(16)).toBe(1440);
  });

  test("of a run that was broken off goes as far as the run", async () => {
    cpSync(join(folder, "runs/first"), join(folder, "broken"), { recursive: true });
    rmSync(join(folder, "broken/report.html"), { force: true });
    const events = join(folder, "broken/events.jsonl");
    truncateSync(events, Math.floor(statSync(events).size / 2));
    const { code, stderr } = await report("broken");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "note: broken: the run is not finished, or was broken off\n",
    });
    expect(page("broken/report.html")).toContain("not finished, or broken off");
  });

  test("replaces no file unless it is told to, and nothing but files", async () => {
    writeFileSync(join(folder, "mine.html"), "mine");
    expect(await report("runs/first", "--out", "mine.html")).toMatchObject({
      code: 2,
      stderr:
        "error: mine.html is there already; name another with --out, or pass --force to replace it [REPORT_EXISTS]\n",
    });
    expect(page("mine.html")).toBe("mine");
    expect((await report("runs/first", "--out", "mine.html", "--force")).code).toBe(0);
    expect(page("mine.html")).toContain("<!doctype html>");
    mkdirSync(join(folder, "folder.html"));
    expect((await report("runs/first", "--out", "folder.html", "--force")).code).toBe(2);
  });

  test.each([
    ["no run", ["nothing"], 3, /nothing is no folder of a run.*\[NOT_A_RUN\]/],
    ["a file", ["train.txt"], 3, /train\.txt is no folder of a run.*\[NOT_A_RUN\]/],
    [
      "an unknown chart",
      ["runs/first", "--only", "bussy"],
      2,
      /did you mean busy\? \[UNKNOWN_CHART\]/,
    ],
    ["an unknown format", ["runs/first", "--out", "a.pdf"], 2, /\*\.png, not a\.pdf \[BAD_VALUE\]/],
    [
      "no folder to write to",
      ["runs/first", "--out", "no/a.html"],
      1,
      /no such folder.*\[REPORT_NOT_WRITTEN\]/,
    ],
    [
      "a picture of a table",
      ["runs/first", "--only", "time-to-target", "--out", "t.svg"],
      3,
      /nothing to draw.*\[NO_DATA\]/,
    ],
    [
      "a chart without data",
      ["runs/first", "--only", "staleness", "--out", "t.html"],
      3,
      /nothing to draw.*\[NO_DATA\]/,
    ],
    ["no run named", [], 2, /missing required argument 'runs' \[USAGE\]/],
  ])("of %s is refused in a line", async (_, args, code, message) => {
    const ended = await report(...args);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr.split("\n")).toHaveLength(2);
    expect(ended).toMatchObject({ code, stdout: "" });
  });

  test("of events that are none is refused, or says how many lines are none", async () => {
    mkdirSync(join(folder, "odd"));
    const events = join(folder, "odd/events.jsonl");
    writeFileSync(events, "\u0000\u0001\n[]\nnull\n{}\n");
    expect(await report("odd")).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/\[NO_DATA\]/),
    });
    cpSync(join(folder, "runs/first/events.jsonl"), events);
    appendFileSync(events, "{\n{\n");
    expect(await report("odd")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("2 lines that hold no event"),
    });
  });

  test("as PNG says what to install where the optional package is missing", async () => {
    const { code, stderr } = await run(["report", "runs/first", "--out", "without.png"], {
      folder,
      environment: { NODE_OPTIONS: `--import=${dataUrl(withoutResvg)}` },
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/npm install @resvg\/resvg-js@2\.6\.2.*\[PNG_UNAVAILABLE\]/),
    });
    expect(existsSync(join(folder, "without.png"))).toBe(false);
  });
});
