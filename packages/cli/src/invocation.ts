import { basename, delimiter, dirname, relative, resolve } from "node:path";

/** What this process was started as, as far as the next command's words depend on it. */
export interface Invocation {
  /** `process.argv[1]`. */
  readonly script: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The words that start this program again from the same folder: `heterosgd`, `npx heterosgd` or
 * `node …`.
 */
export function programWords({ script, folder, environment }: Invocation): string {
  const name = basename(script);
  if (name !== "heterosgd") {
    const path = relative(folder, script);
    return `node ${quoted(path.startsWith("..") ? script : path)}`;
  }
  // npx puts the project's programs on the path, for this process only.
  if (environment["npm_command"] === "exec") return "npx heterosgd";
  const folders = (environment["PATH"] ?? "").split(delimiter).map((path) => resolve(path));
  return folders.includes(resolve(dirname(script))) ? "heterosgd" : "npx heterosgd";
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A path as it is shortest from a folder. */
export function shortPath(path: string, folder: string): string {
  const short = relative(folder, path);
  return short === "" || short.startsWith("..") ? path : short;
}
