import { dirname, join } from "node:path";

/** A data set that lies below the data folder. */
interface NamedSet {
  readonly train: string;
  readonly test: string;
}

/** Data sets that are run with the command's own defaults. */
const namedSets = {
  "wordnet-hypernyms": {
    train: "wordnet-hypernyms/wordnet-hypernyms.train.txt.gz",
    test: "wordnet-hypernyms/wordnet-hypernyms.test.txt.gz",
  },
  "cooking-stackexchange": {
    train: "cooking-stackexchange/cooking.train.xc.txt.gz",
    test: "cooking-stackexchange/cooking.valid.xc.txt.gz",
  },
  delicious: {
    train: "delicious/delicious.train.txt.gz",
    test: "delicious/delicious.test.txt.gz",
  },
  bibtex: { train: "bibtex/bibtex.train.txt.gz", test: "bibtex/bibtex.test.txt.gz" },
} as const satisfies Readonly<Record<string, NamedSet>>;

export const namedSetNames: readonly string[] = Object.keys(namedSets);

/**
 * The arguments of `heterosgd train` that name a set's files.
 *
 * @throws Error for a set that is unknown.
 */
export function filesOf(name: string, folder: string): readonly string[] {
  const { train, test } = setOf(name);
  return [join(folder, train), "--test", join(folder, test)];
}

/** Where a set lies below the data folder. @throws Error for a set that is unknown. */
export function namedSetFolder(name: string): string {
  return dirname(setOf(name).train);
}

function setOf(name: string): NamedSet {
  const sets: Readonly<Record<string, NamedSet>> = namedSets;
  const set = Object.hasOwn(sets, name) ? sets[name] : undefined;
  if (set !== undefined) return set;
  throw new Error(`there is no data set "${name}"; there are ${Object.keys(sets).join(", ")}`);
}
