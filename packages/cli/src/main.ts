#!/usr/bin/env node
/** Entry of the command `heterosgd`. */
import { describeError, describeStack, errorDocument, exitCodeOf } from "./errors.js";
import type { Output } from "./output/output.js";
import { runProgram } from "./program.js";

// Whoever reads the output may have seen enough, or closed the terminal; nothing is wrong then.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  const isClosed = error.code === "EPIPE" || (error.code === "EIO" && process.stdout.isTTY);
  if (!isClosed) throw error;
  process.exit();
});
// A run goes on though nobody listens to how it is getting on.
process.stderr.on("error", () => undefined);

const words = process.argv.slice(2);
let output: Output | undefined;

function fail(error: unknown): void {
  process.exitCode = exitCodeOf(error);
  const isVerbose = output?.verbosity === "verbose" || Boolean(process.env["HETEROSGD_DEBUG"]);
  if (isVerbose) process.stderr.write(`${describeStack(error)}\n`);
  process.stderr.write(`error: ${describeError(error)}\n`);
  // Words that were not understood may have asked for it too.
  if (output?.json ?? words.includes("--json")) {
    process.stdout.write(`${JSON.stringify(errorDocument(error), null, 2)}\n`);
  }
}

process.on("uncaughtException", (error) => {
  fail(error);
  process.exit();
});
try {
  process.exitCode = await runProgram(words, (chosen) => (output = chosen));
} catch (error) {
  fail(error);
}
