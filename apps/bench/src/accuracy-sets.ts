/**
 * Real data sets, and the options that were chosen for each on a tenth of its training rows (`npm
 * run bench -- vary`).
 */
export interface AccuracySet {
  readonly name: string;
  /** Files, below the data folder. */
  readonly train: string;
  readonly test: string;
  /** Further options of `heterosgd train`. */
  readonly options: readonly string[];
  /** P@1 that a median of three seeds must not fall short of. */
  readonly atLeast: number;
}

export const accuracySets: readonly AccuracySet[] = [
  {
    name: "bibtex",
    train: "bibtex/bibtex.train.txt.gz",
    test: "bibtex/bibtex.test.txt.gz",
    options: [],
    atLeast: 0.58,
  },
  {
    name: "delicious",
    train: "delicious/delicious.train.txt.gz",
    test: "delicious/delicious.test.txt.gz",
    options: ["--epochs", "5"],
    atLeast: 0.62,
  },
  {
    name: "cooking-stackexchange",
    train: "cooking-stackexchange/cooking.train.xc.txt.gz",
    test: "cooking-stackexchange/cooking.valid.xc.txt.gz",
    options: [],
    atLeast: 0.58,
  },
  {
    name: "sector",
    train: "sector/sector.scale.train.txt.gz",
    test: "sector/sector.scale.test.txt.gz",
    options: [],
    atLeast: 0.87,
  },
];
