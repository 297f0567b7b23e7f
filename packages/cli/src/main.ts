#!/usr/bin/env node
/** Entry of the command `heterosgd`. */
import { describeError, describeStack, exitCodeOf } from "./errors.js";
import type { Output } from "./output/output.js";
import { runProgram } from "./program.js";

// Whoever reads the output may have seen enough; nothing is wrong then.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
// A run goes on though nobody listens to how it is getting on.
process.stderr.on("error", () => undefined);

let output: Output | undefined;

function fail(error: unknown): void {
  const isVerbose = output?.verbosity === "verbose" || Boolean(process.env["HETEROSGD_DEBUG"]);
  if (isVerbose) process.stderr.write(`${describeStack(error)}\n`);
  process.stderr.write(`error: ${describeError(error)}\n`);
  process.exitCode = exitCodeOf(error);
}

process.on("uncaughtException", (error) => {
  fail(error);
  process.exit();
});
try {
  process.exitCode = await runProgram(process.argv.slice(2), (chosen) => (output = chosen));
} catch (error) {
  fail(error);
}
