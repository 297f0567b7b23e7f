// @ts-check
// Compiles and links the addon's sources. `build-native.mjs` makes what is shipped, the fuzzer a
// variant with sanitizers.
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const sources = join(root, "native");

/**
 * @typedef {object} Compiler
 * @property {string} command as a person would write it
 * @property {string} program
 * @property {readonly string[]} before what follows the program, before all flags
 * @property {string} version what it says of itself; another compiler compiles everything again
 */

/**
 * @typedef {object} Variant
 * @property {string} name of the folder that its objects are kept in
 * @property {readonly string[]} flags for compiling and linking
 * @property {readonly string[]} [linkFlags] for linking only
 * @property {string} output the addon's path
 */

/**
 * The compiler that CXX names, else g++, else clang++. As for make, CXX may hold more than a
 * program, apart by blanks: `ccache g++`, `g++ -std=c++20`.
 *
 * @param {string} [named]
 * @returns {Compiler | string} or why there is none
 */
export function findCompiler(named = (process.env["CXX"] ?? "").trim()) {
  for (const command of named === "" ? ["g++", "clang++"] : [named]) {
    const [program = "", ...before] = command.split(/\s+/);
    const { status, stdout } = spawnSync(program, [...before, "--version"], { encoding: "utf8" });
    if (status === 0) return { command, program, before, version: stdout };
  }
  return named === ""
    ? "there is no C++ compiler (neither g++ nor clang++ was found on the PATH)"
    : `the compiler that CXX names, ${named}, can't be run`;
}

// No -ffast-math: it would break sums that carry their rounding errors, and NaN.
const common = [
  "-std=c++17",
  "-fPIC",
  "-fvisibility=hidden",
  "-fno-rtti",
  "-fno-math-errno",
  "-fno-trapping-math",
  "-ffp-contract=fast",
  "-pthread",
  "-Wall",
  "-Wextra",
];

const avx2 = ["-mavx2", "-mfma"];
const avx512 = [...avx2, "-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"];

/**
 * The instruction set that a file is compiled for, beyond the baseline. Only code that runs after a
 * look at the processor may be in these.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const instructionSetFlags = {
  "avx2.cc": avx2,
  "avx512.cc": avx512,
  "avx512_bf16.cc": [...avx512, "-mavx512bf16"],
};

/** @returns {readonly string[]} */
function sourceFiles() {
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".cc"))
    .filter((file) => process.arch === "x64" || !(basename(file) in instructionSetFlags))
    .toSorted();
}

/**
 * Compiles what has changed, on all processors, and links.
 *
 * @param {Compiler} compiler
 * @param {Variant} variant
 * @returns {Promise<string | undefined>} what the compiler said if it failed
 */
export async function buildAddon(compiler, { name, flags, linkFlags = [], output }) {
  const objects = join(root, "build", `${name}-${process.platform}-${process.arch}`);
  mkdirSync(objects, { recursive: true });
  const headers = /** @type {{ include_dir: string }} */ (
    createRequire(import.meta.url)("node-api-headers")
  ).include_dir;
  const files = sourceFiles();
  const waiting = [...files];
  /** @type {string[]} */
  const failures = [];
  const compileNext = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const own = instructionSetFlags[basename(file)] ?? [];
      const failure = await compile(compiler, file, objectPath(objects, file), [
        ...common,
        ...flags,
        ...own,
        "-isystem",
        headers,
      ]);
      if (failure !== undefined) failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, compileNext));
  if (failures.length > 0) return failures[0];
  return link(
    compiler,
    files.map((file) => objectPath(objects, file)),
    [...flags, ...linkFlags],
    output,
  );
}

/**
 * @param {string} objects
 * @param {string} file
 */
function objectPath(objects, file) {
  return join(objects, file.replaceAll(/[/\\]/g, "-").replace(/\.cc$/, ".o"));
}

/**
 * @param {Compiler} compiler
 * @param {string} file
 * @param {string} object
 * @param {readonly string[]} flags
 * @returns {Promise<string | undefined>} what the compiler said if it failed
 */
async function compile(compiler, file, object, flags) {
  const stamp = `${object}.stamp`;
  const dependencies = `${object}.d`;
  const before = [compiler.command, compiler.version, ...flags];
  if (
    existsSync(object) &&
    readIfThere(stamp) === fingerprint(before, dependenciesOf(dependencies))
  ) {
    return undefined;
  }
  // Made beside and moved, here and below: another build may run, and processes that have an addon
  // loaded keep it whole.
  const beside = `${object}.${process.pid}.tmp`;
  const list = `${beside}.d`;
  const parameters = ["-MMD", "-MF", list, "-c", join(sources, file), "-o", beside];
  const started = Date.now();
  const failure = await tryToRun(compiler, [...flags, ...parameters]);
  if (failure !== undefined) return failure;
  renameSync(list, dependencies);
  renameSync(beside, object);
  const madeFrom = dependenciesOf(dependencies);
  // What was edited meanwhile may or may not be in the object: without a stamp it is made again.
  const editedAt = (/** @type {string} */ path) =>
    statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  if (madeFrom.every((path) => editedAt(path) < started)) {
    writeFileSync(stamp, fingerprint(before, madeFrom));
  }
  return undefined;
}

/**
 * @param {Compiler} compiler
 * @param {readonly string[]} objects
 * @param {readonly string[]} flags
 * @param {string} output
 * @returns {Promise<string | undefined>} what the compiler said if it failed
 */
async function link(compiler, objects, flags, output) {
  const stamp = join(dirname(objects[0] ?? ""), `${basename(output)}.stamp`);
  // libstdc++ and libgcc are the system's, which Node needs as well: copies of them would need a
  // newer C library than the addon itself.
  const shared =
    process.platform === "darwin" ? ["-bundle", "-undefined", "dynamic_lookup"] : ["-shared"];
  const before = [compiler.command, compiler.version, ...flags, ...shared];
  const wanted = fingerprint(before, objects);
  if (existsSync(output) && readIfThere(stamp) === wanted) return undefined;
  mkdirSync(dirname(output), { recursive: true });
  const beside = `${output}.${process.pid}.tmp`;
  const parameters = [...shared, ...flags, "-pthread", ...objects, "-o", beside];
  const failure = await tryToRun(compiler, parameters);
  if (failure !== undefined) return failure;
  renameSync(beside, output);
  writeFileSync(stamp, wanted);
  return undefined;
}

/**
 * @param {Compiler} compiler
 * @param {readonly string[]} parameters
 * @returns {Promise<string | undefined>}
 */
async function tryToRun({ program, before }, parameters) {
  try {
    const { stderr } = await run(program, [...before, ...parameters], { maxBuffer: 1 << 26 });
    if (stderr !== "") process.stderr.write(stderr);
    return undefined;
  } catch (error) {
    const { stderr, message } = /** @type {Error & { stderr?: string }} */ (error);
    return (stderr ?? "").trim() || message;
  }
}

/**
 * The files that an object was made from, by the compiler's own list.
 *
 * @param {string} path
 * @returns {readonly string[]}
 */
function dependenciesOf(path) {
  // A make rule: blanks in names are escaped, and so are ends of lines.
  const names = readIfThere(path).match(/(?:\\[^\n]|[^\s\\])+/g) ?? [];
  return names
    .map((name) => name.replaceAll(/\\(.)/g, "$1"))
    .filter((name) => name.startsWith(sources));
}

/**
 * @param {readonly string[]} before
 * @param {readonly string[]} files
 */
function fingerprint(before, files) {
  const hash = createHash("sha256").update(JSON.stringify(before));
  for (const file of files) hash.update(file).update(existsSync(file) ? readFileSync(file) : "");
  return hash.digest("hex");
}

/** @param {string} path */
function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
