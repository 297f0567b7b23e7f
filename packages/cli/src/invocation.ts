import { basename, delimiter, dirname, parse, relative, resolve } from "node:path";

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

/** A command of this program, as this process would have to be started for it. */
export function commandWords(words: readonly string[]): string {
  const program = programWords({
    script: process.argv[1] ?? "heterosgd",
    folder: workingFolder(),
    environment: process.env,
  });
  return [program, ...words].join(" ");
}

/** The current folder; the root where it was deleted, as results are not to be lost for that. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return parse(process.execPath).root;
  }
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
