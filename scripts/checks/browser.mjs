// @ts-check
// The README examples of the packages that promise to run in a browser, run in one: a page has to
// show what Node prints.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { capture, lastLines } from "../lib/processes.mjs";
import { firstBlock } from "../lib/readme.mjs";
import { root } from "../lib/workspace.mjs";
import { bundleForBrowser, byteCeilings } from "./bundles.mjs";

/** @type {import("../lib/check.js").Check} */
export const browserCheck = {
  name: "browser",
  about:
    "the README examples of sparse, scheduler and merge print in Chromium what they print in Node",
  async run({ temporaryFolder }) {
    const chromium = findChromium(process.env, existsSync);
    if (chromium === undefined) {
      return { problems: [], skipped: "no Chromium found on the PATH or by CHROME_PATH" };
    }
    const problems = [];
    for (const id of Object.keys(byteCeilings)) {
      const problem = await compare(id, chromium, temporaryFolder(`browser-${id}`));
      if (problem !== undefined) problems.push(`packages/${id}: ${problem}`);
    }
    return { problems };
  },
};

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {(path: string) => boolean} exists
 * @returns {string | undefined}
 */
export function findChromium(env, exists) {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [env["CHROME_PATH"] ?? "", ...found].filter((path) => path !== "").find(exists);
}

/**
 * The text of the page's `pre` in a dumped document.
 *
 * @param {string} html
 * @returns {string}
 */
export function pageText(html) {
  const text = /<pre>([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? "";
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/**
 * Writes what an example logs to the page, or to standard output in Node: the same values in the
 * same words.
 */
const logToPage = `
const write = globalThis.document
  ? (text) => document.querySelector("pre").append(text)
  : (text) => process.stdout.write(text);
console.log = (...values) =>
  write(values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ") + "\\n");
globalThis.addEventListener?.("error", ({ message }) => write(message));
globalThis.addEventListener?.("unhandledrejection", ({ reason }) => write(String(reason)));
`;

/**
 * @param {string} id
 * @param {string} chromium
 * @param {string} folder
 * @returns {Promise<string | undefined>} what went wrong
 */
async function compare(id, chromium, folder) {
  const readme = join(root, "packages", id, "README.md");
  const example = existsSync(readme) ? firstBlock(readFileSync(readme, "utf8"), "ts") : undefined;
  if (example === undefined) return "no README with a ```ts example.";
  const { code, problem } = await bundleForBrowser(example, join(root, "packages", id));
  if (problem !== undefined) return problem;

  const script = join(folder, "example.mjs");
  writeFileSync(script, `${logToPage}${code}`);
  const node = await capture(process.execPath, [script], { timeoutMs: 60_000 });
  if (node.code !== 0) return `in Node the example exits with ${node.code}:\n${node.output}`;

  const page = join(folder, "page.html");
  writeFileSync(
    page,
    `<!doctype html><pre></pre><script type="module">${logToPage}${code}</script>`,
  );
  const dumped = await capture(chromium, [...browserFlags(folder), `file://${page}`], {
    timeoutMs: 60_000,
  });
  if (dumped.code !== 0)
    return `Chromium exited with ${dumped.code}:\n${lastLines(dumped.output, 10)}`;
  const shown = pageText(dumped.stdout);
  if (shown.trim() === "") return "the page stays empty.";
  return shown === node.stdout
    ? undefined
    : `the page shows\n${shown}\nwhere Node prints\n${node.stdout}`;
}

/**
 * Headless, with a profile of its own, and silent towards any network.
 *
 * @param {string} folder
 */
function browserFlags(folder) {
  return [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    `--user-data-dir=${join(folder, "profile")}`,
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=10000",
    "--dump-dom",
  ];
}
