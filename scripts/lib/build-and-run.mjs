// @ts-check
import { build, install } from "./bootstrap.mjs";
import { runInForeground, StepError } from "./processes.mjs";
import { root } from "./workspace.mjs";

/**
 * Builds a package with all that it needs, runs its program on this terminal, and takes over its exit code.
 *
 * @param {string} packageName
 * @param {string} program the built file, from the root
 * @param {readonly string[]} parameters
 */
export async function buildAndRun(packageName, program, parameters) {
  try {
    await install();
    await build({ only: packageName });
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return;
  }
  process.exitCode = await runInForeground(process.execPath, [program, ...parameters], {
    cwd: root,
  });
}
