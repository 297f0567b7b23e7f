// @ts-check
// `node scripts/pictures.mjs`: makes the pictures of the documentation anew, from runs of the command on the bundled sample.
// `… figure` makes the README's figure alone, `… figure RUN` that of a run that is there; `… gallery` makes the screenshots of reports, which
// need Chromium. Other work on the machine shows in the pictures: they are of real runs.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findChromium } from "./checks/browser.mjs";
import { prepare } from "./lib/build-and-run.mjs";
import { program } from "./lib/demo.mjs";
import { capture } from "./lib/processes.mjs";
import { root } from "./lib/workspace.mjs";

const folder = join(root, "docs", "pictures");
const seeds = [1, 2, 3];
const devices = "cpu,cpu@0.5";

/** What the gallery holds against each other. */
const contestants = [
  ["both", "--devices", devices],
  ["equal", "--devices", devices, "--algorithm", "elastic"],
  ["alone", "--devices", "cpu"],
];

if (await prepare()) {
  const [part = "all", run] = process.argv.slice(2);
  const runs = mkdtempSync(join(tmpdir(), "heterosgd-pictures-"));
  try {
    mkdirSync(folder, { recursive: true });
    const first = join(runs, "both-1");
    // In turn, so that a slow moment of the machine does not fall on one of them.
    for (const seed of part === "figure" ? [1] : seeds) {
      for (const [name, ...options] of part === "figure" ? contestants.slice(0, 1) : contestants) {
        if (run === undefined) await train(join(runs, `${name}-${seed}`), seed, options);
      }
    }
    if (part !== "gallery") await figure(run ?? first);
    if (part !== "figure") await gallery(runs);
  } finally {
    rmSync(runs, { recursive: true });
  }
}

/**
 * @param {string} out
 * @param {number} seed
 * @param {readonly string[]} options
 */
async function train(out, seed, options) {
  const length = ["--epochs", "3", "--seed", String(seed)];
  await command("train", "--sample", ...options, ...length, "--out", out, "--quiet");
}

/** @param {readonly string[]} words */
async function command(...words) {
  const { code, output } = await capture(process.execPath, [program, ...words], { cwd: root });
  if (code !== 0) throw new Error(`heterosgd ${words.join(" ")} exited with ${code}:\n${output}`);
}

/**
 * When the two devices of a run trained, and on how many rows at once; for each background.
 *
 * @param {string} run
 */
async function figure(run) {
  const { pictureSvg, runFigures } = await import("../packages/report/dist/index.js");
  const { createDocument, readRun } = await import("../packages/report/dist/node.js");
  const read = await readRun(join(run, "events.jsonl"), "unequal");
  const figures = runFigures(read.run).filter(({ id }) => id === "busy" || id === "batch-size");
  for (const theme of /** @type {const} */ (["light", "dark"])) {
    const title = "Adaptive SGD on two unequal devices";
    write(
      `unequal-${theme}.svg`,
      pictureSvg(figures, { document: createDocument(), theme, title }),
    );
  }
}

/**
 * Screenshots of the report of a run, light and on a phone, and of a comparison, dark.
 *
 * @param {string} runs
 */
async function gallery(runs) {
  const { chromium } = await import("playwright-core");
  const executablePath = findChromium(process.env, existsSync);
  if (executablePath === undefined)
    throw new Error("no Chromium found on the PATH or by CHROME_PATH");
  const run = join(runs, "run.html");
  const comparison = join(runs, "comparison.html");
  await command("report", join(runs, "both-1"), "--out", run, "--title", "Two unequal devices");
  const folders = seeds.flatMap((seed) =>
    contestants.map(([name]) => join(runs, `${name}-${seed}`)),
  );
  await command("report", ...folders, "--out", comparison);
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  try {
    /** @type {readonly (readonly [name: string, page: string, width: number, height: number, scheme: "light" | "dark", at: string])[]} */
    const shots = [
      ["report-light.png", run, 800, 1000, "light", "h1"],
      ["report-devices.png", run, 800, 1150, "light", "#batch-size"],
      ["report-dark.png", comparison, 800, 950, "dark", "#part-1"],
      ["report-phone.png", run, 360, 1000, "light", "#busy"],
    ];
    for (const [name, page, width, height, colorScheme, at] of shots) {
      const tab = await browser.newPage({ viewport: { width, height }, colorScheme });
      await tab.goto(pathToFileURL(page).href);
      await tab
        .locator(at)
        .first()
        .evaluate((element) => element.scrollIntoView());
      write(name, await tab.screenshot());
      await tab.close();
    }
  } finally {
    await browser.close();
  }
}

/**
 * @param {string} name
 * @param {string | Uint8Array} content
 */
function write(name, content) {
  const file = join(folder, name);
  writeFileSync(file, content);
  process.stdout.write(`docs/pictures/${name}: ${Math.ceil(statSync(file).size / 1000)} KB\n`);
}
