import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "@heterosgd/sparse";

const FEATURES = 60;
const LABELS = 20;
/** Rows of the training set. */
export const TRAIN_ROWS = 1200;
const TEST_ROWS = 300;

export interface DataFiles {
  readonly train: string;
  readonly test: string;
}

/** Writes data sets of which one feature of each row tells the label, most of the time. */
export function writeMadeUpData(folder: string, seed: number): DataFiles {
  const files = { train: join(folder, "train.txt"), test: join(folder, "test.txt") };
  writeFileSync(files.train, textOf(TRAIN_ROWS, createRandom(seed, 1)));
  writeFileSync(files.test, textOf(TEST_ROWS, createRandom(seed, 2)));
  return files;
}

/** In the XC format. */
function textOf(rows: number, random: Random): string {
  const lines = Array.from({ length: rows }, () => {
    const label = random.nextBelow(LABELS);
    const isTold = random.nextFloat() < 0.85;
    const told = isTold ? label : random.nextBelow(LABELS);
    const telling = told + LABELS * random.nextBelow(FEATURES / LABELS);
    const others = Array.from({ length: random.nextBelow(4) }, () => random.nextBelow(FEATURES));
    const features = [...new Set([telling, ...others])].toSorted((a, b) => a - b);
    const entries = features.map((feature) => `${feature}:${feature === telling ? 1 : 0.2}`);
    return `${label} ${entries.join(" ")}`;
  });
  return `${[`${rows} ${FEATURES} ${LABELS}`, ...lines].join("\n")}\n`;
}
