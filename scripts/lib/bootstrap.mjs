// @ts-check
// Brings a bare clone to the point where everything is built, with nothing but Node and npm: the
// pinned pnpm goes into `.tools`, the dependencies into `node_modules`, and nothing is written
// anywhere else but the package managers' own caches.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { capture, lastLines, StepError } from "./processes.mjs";
import { readJson, root, toolPath, workspacePackages } from "./workspace.mjs";

const stampPath = join(root, "node_modules", ".install-stamp");
const pnpmPath = join(root, ".tools", "node_modules", "pnpm");

/**
 * Installs whatever is missing or out of date.
 *
 * @returns {Promise<void>} rejects with a `StepError` that gives the reason
 */
export async function install() {
  await installPnpm();
  const fingerprint = installFingerprint();
  if (existsSync(stampPath) && readFileSync(stampPath, "utf8") === fingerprint) return;
  await step("installing dependencies", process.execPath, [
    pnpmCommand(),
    "install",
    "--frozen-lockfile",
  ]);
  writeFileSync(stampPath, fingerprint);
}

/**
 * Builds what has changed since the last build.
 *
 * @param {object} [options]
 * @param {string} [options.only] a package's name: only it and what it needs
 * @param {boolean} [options.keepGoing] build the rest after a package has failed
 * @returns {Promise<void>} rejects with a `StepError` that gives the reason
 */
export async function build({ only, keepGoing = false } = {}) {
  await step(only === undefined ? "building" : `building ${only}`, process.execPath, [
    toolPath("turbo"),
    "run",
    "build",
    "--output-logs=errors-only",
    ...(only === undefined ? [] : [`--filter=${only}`]),
    ...(keepGoing ? ["--continue"] : []),
  ]);
  process.stderr.write(nativeNote());
}

/**
 * Why the build made no native addon, in one line, or nothing. It succeeds without one, and the
 * output of what succeeds is not shown.
 *
 * @param {string} [folder] where the addon's build leaves it
 */
export function nativeNote(folder = join(root, "packages", "cpu-kernels", "prebuilds")) {
  const path = join(folder, `${process.platform}-${process.arch}.reason.txt`);
  if (!existsSync(path)) return "";
  const reason = readFileSync(path, "utf8").trim().replaceAll("\n", "; ");
  return `no native kernels, WebAssembly serves: ${reason}\n`;
}

/** Makes sure that the pnpm which package.json names lies in `.tools`. */
export async function installPnpm() {
  const version = readJson(join(root, "package.json")).packageManager.replace("pnpm@", "");
  const installed = join(pnpmPath, "package.json");
  if (existsSync(installed) && readJson(installed).version === version) return;
  const npm = npmCommand();
  const parameters = [
    "install",
    "--prefix",
    join(root, ".tools"),
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    `pnpm@${version}`,
  ];
  await step(`installing pnpm ${version}`, npm.command, [...npm.before, ...parameters], npm.shell);
}

/** The pinned pnpm's script, to be run with `node`. */
export function pnpmCommand() {
  return join(pnpmPath, "bin", "pnpm.cjs");
}

/** npm, as the same installation that started this process where npm did. */
export function npmCommand() {
  const running = process.env["npm_execpath"] ?? "";
  if (running.endsWith("npm-cli.js")) {
    return { command: process.execPath, before: [running], shell: false };
  }
  return { command: "npm", before: [], shell: process.platform === "win32" };
}

/**
 * The environment for package managers and build tools: what npm sets for the script that it runs
 * would change what a nested npm or pnpm does (where it installs, which package it thinks it is
 * in), and `NODE_ENV=production` would leave the tools out.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {NodeJS.ProcessEnv}
 */
export function toolEnvironment(env = process.env) {
  const kept = Object.entries(env).filter(
    ([name]) =>
      !/^(npm_(lifecycle|package|command|execpath|node_execpath|config_(prefix|local_prefix|global_prefix|user_agent))|INIT_CWD$|NODE_ENV$|FORCE_COLOR$)/i.test(
        name,
      ),
  );
  return {
    ...Object.fromEntries(kept),
    CI: "true",
    NO_COLOR: "1",
    DO_NOT_TRACK: "1",
    TURBO_TELEMETRY_DISABLED: "1",
    TURBO_NO_UPDATE_NOTIFIER: "1",
    PATH: `${join(root, ".tools", "node_modules", ".bin")}${delimiter}${env["PATH"] ?? ""}`,
  };
}

/** A text that changes whenever another `pnpm install` is needed. */
function installFingerprint() {
  const hash = createHash("sha256").update(process.version);
  const manifests = workspacePackages().map(({ folder }) => `${folder}/package.json`);
  for (const path of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests]) {
    hash.update(path).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

/**
 * @param {string} what
 * @param {string} command
 * @param {readonly string[]} parameters
 * @param {boolean} [shell]
 */
async function step(what, command, parameters, shell = false) {
  const start = performance.now();
  const live = process.stderr.isTTY;
  if (live) process.stderr.write(`${what} …`);
  const { code, output } = await capture(command, parameters, {
    cwd: root,
    env: toolEnvironment(),
    shell,
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stderr.write(
    `${live ? "\r" : ""}${what}: ${code === 0 ? "done" : "failed"}, ${seconds} s\n`,
  );
  if (code !== 0) {
    throw new StepError(`${what} failed with exit code ${code}:\n${lastLines(output, 60)}`);
  }
}
