import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const HEAP_MIB = 512;

/** What became of a program in a process of its own. */
export interface Outcome {
  /** What its `main` returned, as JSON holds it; null if it threw. */
  readonly result: unknown;
  /** Name, code and message of what it threw; null if it did not. */
  readonly error: {
    readonly name: string;
    readonly code?: string;
    readonly message: string;
  } | null;
  /** The most memory that the process had. */
  readonly mebibytes: number;
}

/**
 * Runs a program in a process with a heap of 512 MiB: what takes much memory ends there, and not the tests.
 *
 * @param path - of the TypeScript file whose function `main` is called, from the repository's root.
 * @throws if the process ends otherwise than by itself.
 */
export async function runLimited(path: string, argument: unknown): Promise<Outcome> {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), "limited-"));
  try {
    const outfile = join(folder, "program.mjs");
    await build({
      stdin: { contents: programText(path, argument), resolveDir: root },
      alias: { "@heterosgd/sparse": join(root, "packages/sparse/src/index.ts") },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    const flags = [`--max-old-space-size=${HEAP_MIB}`, outfile];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 120_000 });
    return JSON.parse(stdout) as Outcome;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function programText(path: string, argument: unknown): string {
  return `
    import { main } from "./${path}";
    const outcome = await main(${JSON.stringify(argument)}).then(
      (result) => ({ result: result ?? null, error: null }),
      ({ name, code, message }) => ({ result: null, error: { name, code, message } }),
    );
    const mebibytes = process.resourceUsage().maxRSS / 1024;
    process.stdout.write(JSON.stringify({ ...outcome, mebibytes }));
  `;
}
