// @ts-check
import { join } from "node:path";
import { capture, lastLines } from "../lib/processes.mjs";
import { root } from "../lib/workspace.mjs";

const program = join(root, "packages", "cpu-kernels", "scripts", "fuzz-native.mjs");

/** What the program exits with where there is no compiler with sanitizers. */
const cannotRun = 3;

/** @type {import("../lib/check.js").Check} */
export const nativeFuzzCheck = {
  name: "native-fuzz",
  about: "the native kernels stand a few thousand random calls under AddressSanitizer",
  async run() {
    // The same calls each time, so that a failure can be looked into.
    const parameters = [program, "--calls", "2000", "--seed", "1"];
    const { code, output } = await capture(process.execPath, parameters, {
      cwd: root,
      timeoutMs: 600_000,
    });
    if (code === 0) return { problems: [] };
    if (code === cannotRun) return { problems: [], skipped: lastLines(output, 1) };
    return { problems: [`fuzz-native exited with ${code}:\n${lastLines(output, 60)}`] };
  },
};
