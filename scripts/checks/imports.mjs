// @ts-check
// Imports point one way: a package may use only what stands above it in this list. Type imports
// count as well, because a package's declarations must not need what its users have not installed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import { root } from "../lib/workspace.mjs";

const kernels = ["cpu-kernels", "gpu-kernels"];
const libraries = ["sparse", "scheduler", "merge", "model", ...kernels, "trainer"];

/**
 * Which packages each one may import, by folder name.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const allowedImports = {
  sparse: [],
  scheduler: [],
  merge: [],
  model: ["sparse"],
  "cpu-kernels": ["model", "sparse"],
  "gpu-kernels": ["model", "sparse"],
  trainer: ["sparse", "scheduler", "merge", "model", ...kernels],
  report: [],
  cli: [...libraries, "report"],
  // Its programs run the built command.
  bench: [...libraries, "report", "cli"],
};

/** Packages without any dependency at run time. */
const standalone = ["sparse", "scheduler", "merge"];

/**
 * Entries that run in a browser too.
 *
 * @type {Readonly<Record<string, string>>}
 */
const forBrowsers = {
  sparse: "src/index.ts",
  scheduler: "src/index.ts",
  merge: "src/index.ts",
  model: "src/index.ts",
  "gpu-kernels": "src/gpujs.ts",
};

const builtins = new Set(builtinModules);

/** @type {import("../lib/check.js").Check} */
export const importsCheck = {
  name: "imports",
  about: "packages import only those above them, and browser entries no Node built-in",
  run: ({ packages }) => {
    const problems = packages.flatMap((entry) => {
      const files = sourceFiles(join(root, entry.folder), ["src", "test"]);
      const browserEntry = forBrowsers[entry.id];
      return [
        ...manifestProblems(entry),
        ...[...files].flatMap(([path, text]) => directionProblems(entry, path, text)),
        ...(browserEntry === undefined ? [] : builtinProblems(entry.folder, files, browserEntry)),
      ];
    });
    return Promise.resolve({ problems });
  },
};

/**
 * The module names that a source text imports, also in `import type`, `export … from` and
 * `import()`.
 *
 * @param {string} source
 * @returns {readonly string[]}
 */
export function importedModules(source) {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const pattern = /\b(?:from|import)\s*\(?\s*["']([^"'\n]+)["']/g;
  return Array.from(code.matchAll(pattern), ([, name]) => name ?? "");
}

/**
 * Dependencies that a package may not have.
 *
 * @param {{ id: string, folder: string, manifest: import("../lib/workspace.mjs").Manifest }} entry
 * @returns {readonly string[]}
 */
export function manifestProblems({ id, folder, manifest }) {
  const allowed = allowedImports[id];
  if (allowed === undefined) {
    return [`${folder} has no place in the list of scripts/checks/imports.mjs.`];
  }
  const atRunTime = { ...manifest.dependencies, ...manifest.peerDependencies };
  const all = { ...atRunTime, ...manifest.optionalDependencies, ...manifest.devDependencies };
  const problems = siblings(Object.keys(all))
    .filter((name) => !allowed.includes(name))
    .map((name) => `${folder}/package.json depends on ${name}, which does not stand above it.`);
  if (standalone.includes(id) && Object.keys(atRunTime).length > 0) {
    problems.push(`${folder}/package.json must have no dependencies at run time.`);
  }
  return problems;
}

/**
 * Imports of one file that point the wrong way.
 *
 * @param {{ id: string, folder: string }} entry
 * @param {string} path from the package's folder
 * @param {string} source
 * @returns {readonly string[]}
 */
export function directionProblems({ id, folder }, path, source) {
  const modules = importedModules(source);
  const allowed = allowedImports[id] ?? [];
  const wrong = siblings(modules).filter((name) => name !== id && !allowed.includes(name));
  const isTest = path.startsWith("test/") || path.endsWith(".test.ts");
  const outside = modules.filter((name) => {
    const target = posix.join(folder, posix.dirname(path), name);
    if (!name.startsWith(".") || target.startsWith(`${folder}/`)) return false;
    // What tests of several packages have in common.
    return !(isTest && target.startsWith("test-support/"));
  });
  return [
    ...wrong.map((name) => `${folder}/${path} imports ${name}, which does not stand above it.`),
    ...outside.map((name) => `${folder}/${path} imports ${name}, which lies outside its package.`),
  ];
}

/**
 * Node built-ins that an entry for browsers reaches through its package's own files.
 *
 * @param {string} folder
 * @param {ReadonlyMap<string, string>} files sources by their path from the package's folder
 * @param {string} [entry]
 * @returns {readonly string[]}
 */
export function builtinProblems(folder, files, entry = "src/index.ts") {
  const problems = [];
  const waiting = [entry];
  const seen = new Set(waiting);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const name of importedModules(files.get(path) ?? "")) {
      if (name.startsWith("node:") || builtins.has(name)) {
        problems.push(`${folder}/${path} imports ${name}, but the main entry reaches it.`);
      }
      const next = posix.join(posix.dirname(path), name).replace(/\.js$/, ".ts");
      if (name.startsWith(".") && !seen.has(next)) {
        seen.add(next);
        waiting.push(next);
      }
    }
  }
  return problems;
}

/**
 * Folder names of the workspace packages among module or package names.
 *
 * @param {readonly string[]} names
 * @returns {readonly string[]}
 */
function siblings(names) {
  return names.flatMap((name) => {
    if (name === "heterosgd" || name.startsWith("heterosgd/")) return ["cli"];
    return name.startsWith("@heterosgd/") ? [name.split("/")[1] ?? ""] : [];
  });
}

/**
 * @param {string} folder
 * @param {readonly string[]} within
 * @returns {ReadonlyMap<string, string>} texts by path from the folder
 */
function sourceFiles(folder, within) {
  /** @type {Map<string, string>} */
  const files = new Map();
  for (const part of within) {
    if (!existsSync(join(folder, part))) continue;
    const entries = readdirSync(join(folder, part), { recursive: true, encoding: "utf8" });
    for (const entry of entries.filter((name) => /\.[cm]?[jt]s$/.test(name))) {
      const path = posix.join(part, entry.replaceAll("\\", "/"));
      files.set(path, readFileSync(join(folder, path), "utf8"));
    }
  }
  return files;
}
