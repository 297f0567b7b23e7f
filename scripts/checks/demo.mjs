// @ts-check
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parameters, program } from "../lib/demo.mjs";
import { capture, lastLines } from "../lib/processes.mjs";
import { commandLines } from "../lib/readme.mjs";
import { root } from "../lib/workspace.mjs";

/** @type {import("../lib/check.js").Check} */
export const demoCheck = {
  name: "demo",
  about: "what `npm start` runs trains for an epoch and shows P@1; the root README's commands run",
  async run(context) {
    const run = join(context.temporaryFolder("demo"), "run");
    const { code, output } = await capture(
      process.execPath,
      [program, ...parameters, "--out", run, "--epochs", "1"],
      { cwd: root, timeoutMs: 120_000 },
    );
    if (code !== 0) return { problems: [`exited with ${code}:\n${lastLines(output, 30)}`] };
    if (!output.includes("P@1")) return { problems: [`shows no P@1:\n${lastLines(output, 30)}`] };
    return { problems: await problemsOfReadme(context.temporaryFolder("readme")) };
  },
};

/**
 * Runs what the root README calls the command with, in a folder that looks like the clone.
 *
 * @param {string} folder
 */
async function problemsOfReadme(folder) {
  symlinkSync(join(root, "packages"), join(folder, "packages"));
  const lines = commandLines(readFileSync(join(root, "README.md"), "utf8"), `node ${program}`);
  if (lines.length === 0) return ["the root README never calls the command."];
  for (const line of lines) {
    const { code, output } = await capture(line, [], {
      cwd: folder,
      timeoutMs: 120_000,
      shell: true,
    });
    if (code !== 0) return [`README: \`${line}\` exits with ${code}:\n${lastLines(output, 20)}`];
  }
  return [];
}
