// Lies directly in src, so that the path to the data is the same from here and from the bundle in
// dist.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CliError } from "./errors.js";

export interface Sample {
  readonly train: string;
  readonly test: string;
  readonly labelNames: string;
}

/**
 * Files of the bundled data set.
 *
 * @throws CliError SAMPLE_MISSING if the package was installed without them.
 */
export function sampleFiles(): Sample {
  const file = (name: string) =>
    fileURLToPath(new URL(`../data/wordnet-hypernyms/${name}`, import.meta.url));
  const sample = {
    train: file("train.txt.gz"),
    test: file("test.txt.gz"),
    labelNames: file("labels.txt.gz"),
  };
  if (!existsSync(sample.train)) {
    throw new CliError("SAMPLE_MISSING", `the bundled data set is not there: ${sample.train}`, {
      hint: "install the package again, or name files of your own",
    });
  }
  return sample;
}
