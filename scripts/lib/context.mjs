// @ts-check
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pnpmCommand, toolEnvironment } from "./bootstrap.mjs";
import { capture, lastLines, StepError } from "./processes.mjs";
import { root, workspacePackages } from "./workspace.mjs";

/**
 * What the checks of one run share, in a temporary folder that `dispose` removes.
 *
 * @returns {import("./check.js").Context & { dispose(): void }}
 */
export function createContext() {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-check-"));
  /** @param {string} name */
  const temporaryFolder = (name) => mkdtempSync(join(folder, `${name}-`));
  /** @type {Promise<readonly import("./check.js").Tarball[]> | undefined} */
  let packed;
  return {
    packages: workspacePackages(),
    temporaryFolder,
    tarballs: () => (packed ??= pack(temporaryFolder("tarballs"))),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** @param {string} destination */
async function pack(destination) {
  const { code, stdout, output } = await capture(
    process.execPath,
    [
      pnpmCommand(),
      "--recursive",
      "--filter=./packages/*",
      "pack",
      "--json",
      `--pack-destination=${destination}`,
    ],
    { cwd: root, env: toolEnvironment() },
  );
  if (code !== 0) throw new StepError(`pnpm pack exited with ${code}:\n${lastLines(output, 20)}`);
  return JSON.parse(stdout);
}
