// @ts-check
import { build, install } from "./bootstrap.mjs";
import { runInForeground, StepError } from "./processes.mjs";
import { root } from "./workspace.mjs";

/**
 * Installs and builds what is out of date; where that fails, says why and sets the exit code.
 *
 * @param {Parameters<typeof build>[0]} [options]
 * @returns {Promise<boolean>} whether everything is in place
 */
export async function prepare(options) {
  try {
    await install();
    await build(options);
    return true;
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return false;
  }
}

/**
 * Builds a package with all that it needs, runs its program on this terminal, and takes over its
 * exit code.
 *
 * @param {string} packageName
 * @param {string} program the built file, from the root
 * @param {readonly string[]} parameters
 */
export async function buildAndRun(packageName, program, parameters) {
  if (!(await prepare({ only: packageName }))) return;
  process.exitCode = await runInForeground(process.execPath, [program, ...parameters], {
    cwd: root,
  });
}
