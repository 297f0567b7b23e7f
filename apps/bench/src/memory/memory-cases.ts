/** The runs that the estimate is held against: every kind of memory is most of some run. */
import { filesOf, namedSetNames } from "../named-sets.js";
import { writeMadeUpFile } from "./made-up-file.js";
import { join } from "node:path";
import type { MadeUpRows } from "../made-up-batches.js";
import type { Verb } from "./peak-run.js";

export interface MemoryCase {
  /** Of a data set: `sample`, a named one or a made-up one. */
  readonly set: string;
  readonly verb: Verb;
  /** Besides the files. */
  readonly args: readonly string[];
}

const made = { draw: "log-uniform", nonZeros: 76 } as const;

/** Data sets of any size, made up: training rows, and a tenth as many test rows. */
const madeUpSets: Readonly<Record<string, MadeUpRows>> = {
  "50k": { ...made, rows: 60_000, features: 100_000, classes: 50_000 },
  rows: { ...made, rows: 400_000, features: 50_000, classes: 2000 },
  "670k": { ...made, rows: 20_000, features: 135_909, classes: 670_091 },
};

/** Whether a data set is so large that its runs are left out unless they are asked for. */
export function isHuge(set: string): boolean {
  return set === "670k";
}

const train = (set: string, options: string): MemoryCase => ({
  set,
  verb: "train",
  args: ["--checkpoint-every", "never", ...options.split(" ")],
});
const saving = (set: string, options: string): MemoryCase => ({
  set,
  verb: "train",
  args: ["--checkpoint-every", "merge", ...options.split(" ")],
});
const simulated = (set: string, options: string): MemoryCase => ({
  set,
  verb: "simulate",
  args: ["--checkpoint-every", "never", ...options.split(" ")],
});

export const memoryCases: readonly MemoryCase[] = [
  train("sample", "--devices cpu"),
  train("sample", "--devices cpu,cpu@0.5"),
  train("sample", "--devices cpu:2 --optimizer sgd"),
  train("sample", "--devices cpu,cpu --kernels wasm"),
  train("sample", "--devices cpu,cpu --kernels plain --max-steps 100"),
  train("sample", "--devices 4*cpu --optimizer adagrad"),
  saving("sample", "--devices cpu,cpu"),
  saving("sample", "--devices cpu,cpu --algorithm easgd --max-steps 300"),
  train("sample", "--devices cpu,cpu --epochs 100000 --max-time 60s"),
  simulated("sample", "--max-steps 300"),
  simulated("sample", "--algorithm async --max-steps 300"),
  train("delicious", "--devices cpu,cpu@0.5 --epochs 3"),
  train("delicious", "--devices cpu:2 --epochs 3"),
  simulated("delicious", "--algorithm hogwild --epochs 1"),
  train("wordnet-hypernyms", "--devices cpu,cpu --max-steps 300"),
  train("wordnet-hypernyms", "--devices cpu,cpu --optimizer sgd --max-steps 300"),
  train("wordnet-hypernyms", "--devices cpu,cpu --algorithm async --max-steps 300"),
  train("wordnet-hypernyms", "--devices cpu,cpu --algorithm abs-sgd --max-steps 300"),
  train("wordnet-hypernyms", "--devices cpu,cpu --algorithm hogwild --max-steps 300"),
  saving("wordnet-hypernyms", "--devices cpu,cpu --max-steps 600"),
  train("50k", "--devices cpu,cpu --optimizer sgd --max-steps 200"),
  train("50k", "--devices cpu:2 --optimizer adam --max-steps 200"),
  train("rows", "--devices cpu,cpu --max-steps 300"),
  train("rows", "--devices cpu --validation 0.1 --max-steps 100"),
  train("670k", "--devices cpu:2 --optimizer sgd --max-steps 40"),
];

/**
 * The arguments that name a data set's files; a made-up one's are written into `made` when they are
 * first needed.
 *
 * @throws Error for a set that is unknown.
 */
export async function filesFor(
  { set, args }: MemoryCase,
  { data, made: folder, written }: MemoryFolders,
): Promise<readonly string[]> {
  if (set === "sample") return ["--sample"];
  const shape = Object.hasOwn(madeUpSets, set) ? madeUpSets[set] : undefined;
  if (shape === undefined) {
    if (namedSetNames.includes(set)) return filesOf(set, data());
    throw new Error(`there is no data set "${set}"`);
  }
  const [trainFile, testFile] = ["train", "test"].map((part) => join(folder, `${set}.${part}.txt`));
  if (!written.has(set)) {
    await writeMadeUpFile(trainFile!, shape, 1);
    await writeMadeUpFile(testFile!, { ...shape, rows: Math.ceil(shape.rows / 10) }, 2);
    written.add(set);
  }
  return [trainFile!, ...(args.includes("--validation") ? [] : ["--test", testFile!])];
}

export interface MemoryFolders {
  /** The folder of real data sets. @throws Error if there is none */
  readonly data: () => string;
  /** Of made-up ones. */
  readonly made: string;
  /** Names of those that lie in it. */
  readonly written: Set<string>;
}
