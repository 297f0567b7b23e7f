// @ts-check
import { toolEnvironment } from "../lib/bootstrap.mjs";
import { capture, lastLines } from "../lib/processes.mjs";
import { root, toolPath } from "../lib/workspace.mjs";

/** @type {import("../lib/check.js").Check} */
export const resolutionCheck = {
  name: "resolution",
  about: "attw resolves every entry of the packed packages to code and types",
  async run({ packages, tarballs }) {
    const packed = await tarballs();
    const problems = [];
    for (const { manifest } of packages) {
      const tarball = packed.find(({ name }) => name === manifest.name);
      if (tarball === undefined || !hasTypedEntry(manifest.exports ?? {})) continue;
      const { code, output } = await capture(
        process.execPath,
        [
          toolPath("@arethetypeswrong/cli", "attw"),
          tarball.filename,
          "--profile=esm-only",
          "--format=ascii",
          "--no-definitely-typed",
          "--no-emoji",
        ],
        { cwd: root, env: toolEnvironment() },
      );
      if (code !== 0) problems.push(lastLines(output, 60));
    }
    return { problems };
  },
};

/**
 * Whether a package can be imported at all: the command's only export is its package.json.
 *
 * @param {Readonly<Record<string, unknown>>} entries package.json's "exports"
 * @returns {boolean}
 */
export function hasTypedEntry(entries) {
  return Object.values(entries).some((entry) => typeof entry === "object" && entry !== null);
}
