/**
 * Compiles kernels and the stand-in for the CUDA driver into one shared library, for tests where there is
 * no GPU. What was built of the same contents before is used again.
 *
 *     node packages/gpu-kernels/scripts/build-stand-in.mjs
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { filesIn, kernelNames, packageFolder } from "./kernel-sources.mjs";

const standIn = join(packageFolder, "stand-in");
const build = join(packageFolder, "build", "stand-in");
const flags = [
  ..."-std=c++17 -O2 -fPIC -fvisibility=hidden -U_FORTIFY_SOURCE".split(" "),
  // A frame larger than the page that guards a stack would go past it.
  "-fstack-clash-protection",
];
const warnings = ["-Wall", "-Wextra", "-Werror"];

/**
 * @param {string} kernels - a folder with `kernels.cu`.
 * @returns {{ ok: true, path: string } | { ok: false, reason: string }} not ok where there is no compiler
 * @throws {Error} what the compiler has against the sources
 */
export function buildStandIn(kernels = join(packageFolder, "kernels")) {
  if (process.platform !== "linux") return { ok: false, reason: "the stand-in is for Linux" };
  const compiler = process.env.CXX ?? "g++";
  const version = spawnSync(compiler, ["--version"], { encoding: "utf8" });
  if (version.status !== 0) return { ok: false, reason: `there is no compiler ${compiler}` };
  mkdirSync(build, { recursive: true });

  const key = [version.stdout, process.arch, ...flags];
  const headers = filesIn(standIn, [".h"]).map((name) => join(standIn, name));
  const runtime = filesIn(standIn, [".cpp"]).map((name) => {
    const source = join(standIn, name);
    const keys = [...key, ...[...headers, source].map(contents)];
    return object(compiler, source, keys, warnings);
  });

  const wrapper = [
    `#include "emulation.h"`,
    `#include "${join(packageFolder, "kernels", "cuda.h")}"`,
    `#include "${join(kernels, "kernels.cu")}"`,
    ...kernelNames(kernels).map((name) => `STAND_IN_KERNEL(${name})`),
    "",
  ].join("\n");
  const sources = filesIn(kernels, [".cu", ".h"]).map((name) => join(kernels, name));
  const keys = [...key, wrapper, ...[...headers, ...sources].map(contents)];
  const source = join(build, `${hash(keys)}.cpp`);
  if (!existsSync(source)) atomically(source, (path) => writeFileSync(path, wrapper));
  const objects = [...runtime, object(compiler, source, keys, [])];

  const path = join(build, `libcuda-${hash(objects)}.so`);
  if (!existsSync(path)) {
    atomically(path, (file) => run(compiler, ["-shared", "-o", file, ...objects]));
  }
  return { ok: true, path };
}

function object(compiler, source, keys, more) {
  const path = join(build, `${hash(keys)}.o`);
  if (!existsSync(path)) {
    const options = [...flags, ...more, `-I${standIn}`, "-c", source];
    atomically(path, (file) => run(compiler, [...options, "-o", file]));
  }
  return path;
}

/** Several test files may build at once. */
function atomically(path, make) {
  const own = `${path}.${process.pid}`;
  make(own);
  renameSync(own, path);
}

function run(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) {
    throw new Error(`${command} ${args.join(" ")}\n${error?.message ?? stderr}`);
  }
}

function contents(path) {
  return readFileSync(path, "utf8");
}

function hash(texts) {
  return createHash("sha256").update(texts.join("\0")).digest("hex").slice(0, 16);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const built = buildStandIn();
  if (!built.ok) process.exitCode = 1;
  console.log(built.ok ? built.path : built.reason);
}
