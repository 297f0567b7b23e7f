// @ts-check
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { stripVTControlCharacters } from "node:util";

/**
 * @typedef {object} Finished
 * @property {number} code exit code, or 128 + signal number
 * @property {string} stdout
 * @property {string} output standard output and error as they came, without colours
 */

/** A step that did not end well; its message says what, why and with which exit code. */
export class StepError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "StepError";
  }
}

/**
 * Runs a program to its end with its output captured. A bad exit code is a result; only a program
 * that can't be started rejects.
 *
 * @param {string} command
 * @param {readonly string[]} parameters
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, shell?: boolean }} [options]
 * @returns {Promise<Finished>}
 */
export function capture(command, parameters, options = {}) {
  const { cwd, env, timeoutMs, shell = false } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, {
      cwd,
      env,
      shell,
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", (cause) =>
      reject(new StepError(`${command} could not be started: ${cause.message}`)),
    );
    child.on("close", (code, signal) =>
      resolve({
        code: exitCode(code, signal),
        stdout,
        output: stripVTControlCharacters(output),
      }),
    );
  });
}

/**
 * Runs a program on this terminal and resolves to its exit code. Signals reach it, and it decides
 * how to end.
 *
 * @param {string} command
 * @param {readonly string[]} parameters
 * @param {{ cwd: string }} options
 * @returns {Promise<number>}
 */
export function runInForeground(command, parameters, { cwd }) {
  const child = spawn(command, parameters, { cwd, stdio: "inherit" });
  // A terminal sends Ctrl+C to the child as well, so this process only has to stay until the child
  // has ended.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(exitCode(code, signal)));
  });
}

/**
 * @param {string} text
 * @param {number} lines
 */
export function lastLines(text, lines) {
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}

/**
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function exitCode(code, signal) {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
