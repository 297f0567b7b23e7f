// @ts-check
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { capture } from "../lib/processes.mjs";
import { root } from "../lib/workspace.mjs";

/** More lines than this and a source file does two things. */
const lineLimit = 400;

/** @type {import("../lib/check.js").Check} */
export const leftoversCheck = {
  name: "leftovers",
  about: `no source over ${lineLimit} lines, no path of one machine, no registry's address in the lock file`,
  async run() {
    const paths = await trackedFiles();
    if (paths === undefined) return { problems: [], skipped: "needs git and a clone" };
    const problems = paths
      .filter((path) => !/\.(gz|png|safetensors|bin|node|wasm)$/.test(path))
      .flatMap((path) => leftovers(path, readFileSync(join(root, path), "utf8")));
    return { problems, note: `${paths.length} files` };
  },
};

/**
 * What one file should not contain.
 *
 * @param {string} path from the root
 * @param {string} text
 * @returns {readonly string[]}
 */
export function leftovers(path, text) {
  const lines = text.split("\n");
  const problems = [];
  const isSource =
    /\.(ts|mjs|cpp|cc|h)$/.test(path) && !/(^|\/)(test|generated)\/|\.test\./.test(path);
  if (isSource && lines.length - 1 > lineLimit) {
    problems.push(
      `${path} has ${lines.length - 1} lines, over ${lineLimit}: split it by what it does.`,
    );
  }
  for (const [index, line] of lines.entries()) {
    const place = `${path}:${index + 1}`;
    if (/(?<![\w./~-])\/(work|home|root|Users)\/\w/.test(line)) {
      problems.push(`${place} names a path of one machine: ${line.trim().slice(0, 100)}`);
    }
    if (path === "pnpm-lock.yaml" && /https?:\/\/|\btarball:/.test(line)) {
      problems.push(`${place} names an address: ${line.trim().slice(0, 100)}`);
    }
  }
  return problems;
}

/** The files that git tracks and that are still there, or `undefined` without git. */
async function trackedFiles() {
  try {
    const listed = await capture("git", ["ls-files", "-z"], { cwd: root });
    const deleted = await capture("git", ["ls-files", "-z", "--deleted"], { cwd: root });
    if (listed.code !== 0 || deleted.code !== 0) return undefined;
    const gone = new Set(deleted.stdout.split("\0"));
    return listed.stdout.split("\0").filter((path) => path !== "" && !gone.has(path));
  } catch {
    return undefined;
  }
}
