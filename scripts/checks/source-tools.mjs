// @ts-check
// The checks that are one run of a tool over the whole repository.
import { toolEnvironment } from "../lib/bootstrap.mjs";
import { capture, lastLines } from "../lib/processes.mjs";
import { root, toolPath } from "../lib/workspace.mjs";

/**
 * @param {string} name
 * @param {string} about
 * @param {() => readonly string[]} command the tool's path and parameters
 * @returns {import("../lib/check.js").Check}
 */
function toolCheck(name, about, command) {
  return {
    name,
    about,
    async run() {
      const { code, output } = await capture(process.execPath, command(), {
        cwd: root,
        env: toolEnvironment(),
      });
      return { problems: code === 0 ? [] : [lastLines(output, 100)] };
    },
  };
}

export const typesCheck = toolCheck(
  "types",
  "all sources, tests and scripts have sound types",
  () => [toolPath("typescript", "tsc"), "--project", "tsconfig.json"],
);

export const lintCheck = toolCheck(
  "lint",
  "oxlint, with the rules that need types, has no complaint",
  () => [toolPath("oxlint"), "--type-aware", "--deny-warnings", "--format=unix"],
);

export const formatCheck = toolCheck("format", "oxfmt would change nothing", () => [
  toolPath("oxfmt"),
  "--check",
  ".",
]);

export const unusedCheck = toolCheck(
  "unused",
  "knip finds no unused file, export or dependency",
  () => [toolPath("knip"), "--no-progress", "--no-config-hints"],
);
