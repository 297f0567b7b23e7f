/** Who takes part in `bench peers`, and whether it is installed. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Dataset } from "@heterosgd/sparse";
import { ownFile } from "../own-files.js";
import { torchEnvironment } from "../step/contestants.js";
import { runFasttext } from "./fasttext.js";
import { runHeterosgd } from "./heterosgd.js";
import { runLinePeer, type LinePeer } from "./line-peer.js";
import type { Outcome, Settings } from "./outcome.js";

/** What is trained on. */
export interface Job {
  /** Where `writePeerData` has written the rows. */
  readonly folder: string;
  /** The same rows as arguments of `heterosgd train`. */
  readonly files: readonly string[];
  readonly rows: number;
  readonly test: Dataset;
  readonly settings: Settings;
}

/** What a peer is, or why it does not take part. */
export type Found =
  | { readonly version: string }
  | { readonly missing: string; readonly install: string };

export interface Contestant {
  readonly name: string;
  /** What `--only` names; heterosgd is always there. */
  readonly family: "heterosgd" | "torch" | "fasttext" | "tfjs";
  /** Threads that it can use at most. */
  readonly maxThreads: number;
  /** Whose learning rate it has: heterosgd's where the arithmetic is the same. */
  readonly ratesOf: string;
  readonly find: () => Promise<Found>;
  readonly run: (job: Job) => Promise<Outcome>;
}

export interface Places {
  /** The interpreter that has PyTorch. */
  readonly python: string;
  /** Where npm has installed TensorFlow.js; undefined if nobody says so. */
  readonly modules: string | undefined;
}

export const families = ["torch", "fasttext", "tfjs"] as const;

/** What all others are compared with. */
export const base = "heterosgd";

const perCore = "heterosgd, a device a core";
const run = promisify(execFile);
const file = (name: string) => fileURLToPath(ownFile(`peers/${name}`));
const here = () => Promise.resolve({ version: "this commit" });

export function peerContestants({ python, modules }: Places): readonly Contestant[] {
  const torch = (name: string, way: string, environment: LinePeer["environment"]) => ({
    name,
    family: "torch" as const,
    maxThreads: Infinity,
    ratesOf: base,
    find: () => findTorch(python),
    run: ({ folder, settings }: Job) => {
      const command = [
        python,
        file("torch-train.py"),
        folder,
        way,
        JSON.stringify(settings),
      ] as const;
      return runLinePeer({ command: [...command], environment }, settings);
    },
  });
  return [
    {
      name: base,
      family: "heterosgd",
      maxThreads: Infinity,
      ratesOf: base,
      find: here,
      run: ({ files, settings }) => runHeterosgd(files, `cpu:${settings.threads}`, settings),
    },
    {
      name: perCore,
      family: "heterosgd",
      maxThreads: Infinity,
      ratesOf: perCore,
      find: here,
      run: ({ files, settings }) => runHeterosgd(files, `${settings.threads}*cpu`, settings),
    },
    torch("PyTorch, autograd", "autograd", {}),
    torch("PyTorch, by hand", "by-hand", torchEnvironment),
    {
      name: "fastText",
      family: "fasttext",
      maxThreads: Infinity,
      ratesOf: "fastText",
      find: findFasttext,
      run: ({ folder, test, rows, settings }) => runFasttext(folder, test, rows, settings),
    },
    {
      name: "TensorFlow.js",
      family: "tfjs",
      maxThreads: 1,
      ratesOf: base,
      find: () => Promise.resolve(findTfjs(modules)),
      run: ({ folder, settings }) => {
        const rest = [file("tfjs-train.mjs"), folder, JSON.stringify(settings), modules ?? "."];
        return runLinePeer({ command: [process.execPath, ...rest], environment: {} }, settings);
      },
    },
  ];
}

async function findTorch(python: string): Promise<Found> {
  try {
    const { stdout } = await run(python, ["-c", "import numpy, torch; print(torch.__version__)"]);
    return { version: `PyTorch ${stdout.trim()}` };
  } catch (error) {
    return {
      missing: `${python} has no PyTorch (${lastLine(error)})`,
      install: "apt-get install python3-torch, or --python an interpreter that has it",
    };
  }
}

async function findFasttext(): Promise<Found> {
  try {
    await run("fasttext", []);
    return { version: "fastText" };
  } catch (error) {
    // Without arguments it says how it is used, and fails.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") return { version: "fastText" };
    return { missing: "there is no fasttext on the PATH", install: "apt-get install fasttext" };
  }
}

function findTfjs(modules: string | undefined): Found {
  const packages = ["@tensorflow/tfjs", "@tensorflow/tfjs-backend-wasm"];
  const install = `npm install --prefix FOLDER ${packages.join(" ")}, then --modules FOLDER`;
  if (modules === undefined) return { missing: "--modules does not say where it is", install };
  const manifests = packages.map((name) =>
    join(resolve(modules), "node_modules", name, "package.json"),
  );
  const absent = manifests.find((path) => !existsSync(path));
  if (absent !== undefined) return { missing: `there is no ${absent}`, install };
  const { version } = JSON.parse(readFileSync(manifests[0]!, "utf8")) as { version: string };
  return { version: `TensorFlow.js ${version}` };
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { readonly stderr?: string };
  return (stderr?.trim() || message).split("\n").at(-1) ?? "";
}
