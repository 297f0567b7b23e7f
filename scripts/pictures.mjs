// @ts-check
// `node scripts/pictures.mjs`: makes the pictures of the documentation anew, from runs of the command on the bundled sample.
// `node scripts/pictures.mjs figure` makes the figure of the README alone, `… gallery` the screenshots of reports, which need Chromium.
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
const [two, one] = ["cpu,cpu@0.5", "cpu"];

/** What the README's figure holds against each other: named as there. */
const contestants = [
  { name: "both, each as fast as it can", run: "both", options: ["--devices", two] },
  {
    name: "both, equal split (elastic)",
    run: "equal",
    options: ["--devices", two, "--algorithm", "elastic"],
  },
  { name: "the fast one alone", run: "alone", options: ["--devices", one] },
];

if (await prepare()) {
  const parts = process.argv.slice(2);
  const runs = mkdtempSync(join(tmpdir(), "heterosgd-pictures-"));
  try {
    mkdirSync(folder, { recursive: true });
    // In turn, so that a slow moment of the machine does not fall on one of them.
    for (const seed of seeds) {
      for (const { run, options } of contestants)
        await train(join(runs, `${run}-${seed}`), seed, options);
    }
    if (parts.length === 0 || parts.includes("figure")) await figure(runs);
    if (parts.length === 0 || parts.includes("gallery")) await gallery(runs);
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
  const size = ["--hidden", "512", "--epochs", "5"];
  await command(
    "train",
    "--sample",
    ...size,
    "--seed",
    String(seed),
    ...options,
    "--out",
    out,
    "--quiet",
  );
}

/** @param {readonly string[]} words */
async function command(...words) {
  const { code, output } = await capture(process.execPath, [program, ...words], { cwd: root });
  if (code !== 0) throw new Error(`heterosgd ${words.join(" ")} exited with ${code}:\n${output}`);
}

/**
 * Accuracy over time of all, and when the two devices trained; for each background.
 *
 * @param {string} runs
 */
async function figure(runs) {
  const { comparisonFigures, contestantsOf, pictureSvg, runFigures } =
    await import("../packages/report/dist/index.js");
  const { createDocument, readRun } = await import("../packages/report/dist/node.js");
  const all = [];
  for (const { name, run } of contestants) {
    for (const seed of seeds) {
      all.push((await readRun(join(runs, `${run}-${seed}`, "events.jsonl"), name)).run);
    }
  }
  const [accuracy] = comparisonFigures(contestantsOf(all));
  const devices = runFigures(all[0]);
  const busy = devices.find(({ id }) => id === "busy");
  const sizes = devices.find(({ id }) => id === "batch-size");
  if (accuracy === undefined || busy === undefined || sizes === undefined) {
    throw new Error("the runs have too little for the figure");
  }
  const figures = [
    { ...accuracy, title: "P@1 over time on two unequal devices (one at half speed), three seeds" },
    { ...busy, title: "When each device trains (both, seed 1)" },
    { ...sizes, title: "Batch size of each device (both, seed 1)" },
  ];
  for (const theme of /** @type {const} */ (["light", "dark"])) {
    const title = "Adaptive SGD on two unequal devices";
    const svg = pictureSvg(figures, { document: createDocument(), theme, title });
    write(`unequal-${theme}.svg`, svg);
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
  const folders = seeds.flatMap((seed) => contestants.map((it) => join(runs, `${it.run}-${seed}`)));
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
