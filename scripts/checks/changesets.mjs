// @ts-check
// The command bundles the libraries at build time, as devDependencies, and changesets does not
// release it when one of them changes. So whoever describes a change of a library has to name the
// command in the same changeset.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/workspace.mjs";

const folder = ".changeset";

/** @type {import("../lib/check.js").Check} */
export const changesetsCheck = {
  name: "changesets",
  about:
    "changesets name known packages, say something, and name the command beside what it bundles",
  run: ({ packages }) => {
    const releasable = packages.filter(({ isPublic }) => isPublic);
    const command = releasable.find(({ manifest }) => manifest.bin !== undefined)?.manifest;
    const known = releasable.map(({ manifest }) => manifest.name);
    const bundled = Object.keys(command?.devDependencies ?? {}).filter((name) =>
      known.includes(name),
    );
    const paths = readdirSync(join(root, folder)).filter((name) => /^(?!README).*\.md$/.test(name));
    const problems = paths.flatMap((name) =>
      changesetProblems(readFileSync(join(root, folder, name), "utf8"), {
        known,
        bundled,
        command: command?.name ?? "",
      }).map((problem) => `${folder}/${name} ${problem}`),
    );
    return Promise.resolve({ problems, note: `${paths.length} pending` });
  },
};

/**
 * What is wrong with one changeset.
 *
 * @param {string} text
 * @param {object} packages
 * @param {readonly string[]} packages.known names that can be released
 * @param {readonly string[]} packages.bundled those that the command contains
 * @param {string} packages.command the command's own name
 * @returns {readonly string[]}
 */
export function changesetProblems(text, { known, bundled, command }) {
  const parts = /^---\r?\n([\s\S]*?)\r?\n?---\r?\n?([\s\S]*)$/.exec(text);
  if (parts === null) return ["has no front matter between two lines of ---."];
  const [, front = "", summary = ""] = parts;
  const problems = [];
  const named = [];
  for (const line of front.split("\n").filter((entry) => entry.trim() !== "")) {
    const [, name = ""] =
      /^["']?([^"':]+)["']?\s*:\s*(?:major|minor|patch|none)\s*$/.exec(line) ?? [];
    if (name === "") problems.push(`has a line that is not "package: major|minor|patch": ${line}`);
    else if (!known.includes(name)) problems.push(`names ${name}, which is no public package.`);
    else named.push(name);
  }
  if (named.length > 0 && summary.trim() === "") problems.push("does not say what changes.");
  const bundledNames = named.filter((name) => bundled.includes(name));
  if (bundledNames.length > 0 && !named.includes(command)) {
    problems.push(
      `names ${bundledNames.join(", ")}, which ${command} bundles, but not ${command}.`,
    );
  }
  return problems;
}
