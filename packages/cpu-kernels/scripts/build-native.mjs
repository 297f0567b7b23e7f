// @ts-check
// Builds the native addon with the system's C++ compiler, into the folder that node-gyp-build looks
// in. Compiles only what has changed. Where there is no compiler, or it fails, the package works
// without the addon: that is said here, the reason is kept for `nativeSupport()`, and the exit code is
// 0, unless HETEROSGD_NATIVE=require. HETEROSGD_NATIVE=skip builds without it.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAddon, findCompiler } from "./native-compiler.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "prebuilds", `${process.platform}-${process.arch}`);
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

/** @param {string} reason */
function goWithout(reason) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(reasonPath), { recursive: true });
  writeFileSync(reasonPath, `${reason}\n`);
  process.stderr.write(`cpu-kernels: no native addon, WebAssembly serves: ${reason}\n`);
  if (mode === "require") process.exitCode = 1;
}

/** @returns {Promise<string | undefined>} why there is no addon */
async function build() {
  if (mode === "skip") return "it was not to be built (HETEROSGD_NATIVE=skip)";
  if (process.platform === "win32") return "it is not built on Windows";
  const compiler = findCompiler();
  if (typeof compiler === "string") return compiler;
  const failure = await buildAddon(compiler, {
    name: "release",
    flags: ["-O3"],
    output: join(folder, `heterosgd-cpu-kernels.napi${libcTag()}.node`),
  });
  if (failure === undefined) return undefined;
  process.stderr.write(`${failure}\n`);
  const telling = failure.split("\n").find((line) => /error/i.test(line));
  return `${compiler.command} failed: ${telling ?? failure}`;
}

const reason = await build();
if (reason === undefined) rmSync(reasonPath, { force: true });
else goWithout(reason);
