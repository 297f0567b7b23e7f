/**
 * What `bench gpu` needs on a machine that reaches no package registry, in one file: this build of the programs and of
 * the command, and the packages that they load.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { dataFolder } from "../run-command.js";
import { namedSetFolder } from "../named-sets.js";
import { MIXED_SET } from "./mixed.js";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** The folder in the archive. */
const NAME = "heterosgd-gpu";
/** Programs that lie where they lie in the repository, by what of them is needed. */
const programs: Readonly<Record<string, readonly string[]>> = {
  "apps/bench": ["package.json", "dist", "peers"],
  "packages/cli": ["package.json", "dist", "data", "kernels", "prebuilds", "wasm"],
};

/**
 * Writes a tar archive, packed by gzip.
 *
 * @param withNode - puts this machine's Node into it, for a machine of the same kind without.
 * @returns how many packages are in it
 * @throws Error if a package is not installed or `tar` fails
 */
export function packGpuBench(file: string, withNode: boolean): number {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-bench-"));
  try {
    const target = join(folder, NAME);
    const packages = new Map<string, string>();
    for (const [program, parts] of Object.entries(programs)) {
      for (const part of parts) copy(join(root, program, part), join(target, program, part));
      collect(join(root, program), program, packages);
    }
    for (const [place, from] of packages) copyPackage(from, join(target, place));
    copyData(join(target, "data"));
    if (withNode) copy(process.execPath, join(target, "node"));
    mkdirSync(dirname(resolve(file)), { recursive: true });
    execFileSync("tar", ["-czf", resolve(file), "-C", folder, NAME]);
    return packages.size;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Adds what a package depends on, and what that does: at the top, or where another version is there, below the
 * package that needs it.
 *
 * @param at - where the package is to lie.
 * @param packages - where each is to lie, and where it lies.
 */
function collect(from: string, at: string, packages: Map<string, string>): void {
  const { name: of, dependencies = {}, optionalDependencies = {} } = manifestOf(from);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = find(name, from);
    // An optional one is there or not, by the kind of machine.
    if (found === null) {
      if (name in optionalDependencies) continue;
      throw new Error(`${of} needs ${name}, which is not installed: run npm test first`);
    }
    const top = join("node_modules", name);
    const known = packages.get(top);
    const place = known === undefined || known === found ? top : join(at, top);
    if (packages.get(place) === found) continue;
    packages.set(place, found);
    collect(found, place, packages);
  }
}

/** As Node finds packages: in this folder's node_modules, or in one above. */
function find(name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(path)) return realpathSync(path);
    if (folder === dirname(folder)) return null;
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Of this repository's packages, what they publish. */
function copyPackage(from: string, to: string): void {
  const isOurs = !relative(root, from).includes("node_modules");
  const { files = [] } = manifestOf(from);
  const parts = isOurs ? ["package.json", ...files] : ["."];
  for (const part of parts) copy(join(from, part), join(to, part));
}

function copyData(to: string): void {
  try {
    copy(join(dataFolder(), namedSetFolder(MIXED_SET)), join(to, namedSetFolder(MIXED_SET)));
  } catch {
    // Without it, mixed runs train on the command's own sample.
  }
}

function copy(from: string, to: string): void {
  if (!existsSync(from)) return;
  const isWanted = (path: string) =>
    !/\.(map|d\.ts)$/u.test(path) && !(path !== from && basename(path) === "node_modules");
  cpSync(from, to, { recursive: true, dereference: true, filter: isWanted });
}
