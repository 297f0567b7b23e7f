// @ts-check
// Builds the native addon with the system's C++ compiler, into the folder that node-gyp-build looks
// in, and writes beside it what it has to be: a loader that maps a damaged binary takes its process
// down. Compiles only what has changed. Where there is no compiler, or it fails, the package works
// without the addon: that is said here, the reason and what would help are kept for
// `nativeSupport()`, and the exit code is 0, unless HETEROSGD_NATIVE=require. HETEROSGD_NATIVE=skip
// builds without it.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAddon, findCompiler } from "./native-compiler.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "prebuilds", `${process.platform}-${process.arch}`);
const output = join(folder, `heterosgd-cpu-kernels.napi${libcTag()}.node`);
const reasonPath = `${folder}.reason.txt`;
const mode = process.env["HETEROSGD_NATIVE"] ?? "";

/** node-gyp-build tells musl from glibc by the tag; elsewhere there is one C library. */
function libcTag() {
  if (process.platform !== "linux") return "";
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (
    process.report.getReport()
  );
  return report.header.glibcVersionRuntime === undefined ? ".musl" : ".glibc";
}

/**
 * Why there is no addon, and what would help.
 *
 * @typedef {readonly [reason: string, remedy: string]} Lack
 */

/** @param {Lack} lack */
function goWithout([reason, remedy]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(reasonPath), { recursive: true });
  writeFileSync(reasonPath, `${reason}\n${remedy}\n`);
  const required = mode === "require";
  const effect = required
    ? "the native addon was required (HETEROSGD_NATIVE=require)"
    : "no native addon, WebAssembly serves";
  process.stderr.write(`cpu-kernels: ${effect}: ${reason}; ${remedy}\n`);
  if (required) process.exitCode = 1;
}

/** @returns {Promise<Lack | undefined>} why there is no addon */
async function build() {
  if (mode === "skip") {
    return [
      "it was not to be built (HETEROSGD_NATIVE=skip)",
      "`npm run build` without this variable makes it",
    ];
  }
  if (process.platform === "win32") {
    return ["it is not built on Windows", "Linux or macOS have it, also under WSL"];
  }
  const compiler = findCompiler();
  if (typeof compiler === "string") {
    return [compiler, "install g++ or clang++, or name one by CXX, and run `npm run build`"];
  }
  const failure = await buildAddon(compiler, {
    name: "release",
    flags: ["-O3"],
    linkFlags: process.platform === "linux" ? ["-Wl,-s"] : [],
    output,
  });
  if (failure === undefined) return undefined;
  process.stderr.write(`${failure}\n`);
  const telling = failure.split("\n").find((line) => /error/i.test(line));
  return [
    `${compiler.command} failed: ${telling ?? failure.split("\n", 1)[0]}`,
    "`HETEROSGD_NATIVE=require npm run build` shows all that it said; CXX names another compiler",
  ];
}

/** What `src/native/addon-file.ts` holds the binary against before it is loaded. */
function writeManifest() {
  const binary = readFileSync(output);
  const header = readFileSync(join(root, "native/boundary/operations.h"), "utf8");
  const manifest = {
    interface: Number(/kInterface = (\d+);/.exec(header)?.[1]),
    isas: process.arch === "x64" ? ["avx512", "avx2", "portable"] : ["portable"],
    bytes: binary.length,
    sha256: createHash("sha256").update(binary).digest("hex"),
  };
  const beside = `${output}.json.${process.pid}.tmp`;
  writeFileSync(beside, `${JSON.stringify(manifest, undefined, 2)}\n`);
  renameSync(beside, `${output}.json`);
}

if (!["", "skip", "require"].includes(mode)) {
  process.stderr.write(
    `cpu-kernels: HETEROSGD_NATIVE is "${mode}", expected "skip", "require" or nothing\n`,
  );
  process.exitCode = 1;
} else {
  const lack = await build();
  if (lack === undefined) {
    writeManifest();
    rmSync(reasonPath, { force: true });
  } else {
    goWithout(lack);
  }
}
