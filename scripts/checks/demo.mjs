// @ts-check
import { join } from "node:path";
import { parameters, program } from "../lib/demo.mjs";
import { capture, lastLines } from "../lib/processes.mjs";
import { root } from "../lib/workspace.mjs";

/** @type {import("../lib/check.js").Check} */
export const demoCheck = {
  name: "demo",
  about: "what `npm start` runs trains for an epoch and shows P@1",
  async run(context) {
    const run = join(context.temporaryFolder("demo"), "run");
    const { code, output } = await capture(
      process.execPath,
      [program, ...parameters, "--out", run, "--epochs", "1"],
      { cwd: root, timeoutMs: 120_000 },
    );
    if (code !== 0) return { problems: [`exited with ${code}:\n${lastLines(output, 30)}`] };
    if (!output.includes("P@1")) return { problems: [`shows no P@1:\n${lastLines(output, 30)}`] };
    return { problems: [] };
  },
};
