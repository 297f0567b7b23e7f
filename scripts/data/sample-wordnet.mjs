/**
 * Makes the sample of WordNet's hypernyms that the command `heterosgd` brings along.
 *
 *     node scripts/data/sample-wordnet.mjs SOURCE TARGET
 *
 * SOURCE is a folder with wordnet-hypernyms.{train,test}.txt.gz, labels.txt.gz and LICENSE.txt;
 * TARGET gets train.txt.gz, test.txt.gz, labels.txt.gz and LICENSE.txt. Needs the built package
 * `sparse`. The same source gives the same rows; the packed bytes depend on Node's zlib too.
 *
 * 1. The LABELS labels with the most training rows are kept, in the source's order.
 * 2. Of the rows that carry one of them, a seeded choice is kept, in the source's order.
 * 3. Features that occur in the kept training rows are kept, in the source's order.
 * 4. Values are rounded to three decimals, which the tf-idf weights can spare.
 * 5. A label's name that an earlier label has too (another sense of the word) gets a number:
 * `body_2`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  createDatasetBuilder,
  fillPermutation,
  writeXc,
} from "../../packages/sparse/dist/index.js";
import { readDatasetFile, readNames } from "../../packages/sparse/dist/node.js";

const LABELS = 1000;
const TRAIN_ROWS = 12_000;
const TEST_ROWS = 2000;
const SEED = 1;

/** How many rows each column occurs in. */
function countColumns({ columns, indices }) {
  const counts = new Uint32Array(columns);
  for (const index of indices) counts[index]++;
  return counts;
}

/** New numbers of the columns that are kept, −1 for the others. */
function renumber(keep) {
  let next = 0;
  return Int32Array.from(keep, (kept) => (kept ? next++ : -1));
}

function mostFrequent(counts, number) {
  const byCount = [...counts.keys()].toSorted((a, b) => counts[b] - counts[a] || a - b);
  const chosen = new Set(byCount.slice(0, number));
  return Array.from(counts, (_, column) => chosen.has(column));
}

function entries({ offsets, indices, values }, row) {
  const list = [];
  for (let i = offsets[row]; i < offsets[row + 1]; i++) list.push([indices[i], values?.[i]]);
  return list;
}

/** A seeded choice of `number` rows that have a kept label, in ascending order. */
function chooseRows({ rows, labels }, labelNumbers, number) {
  const order = new Uint32Array(rows);
  fillPermutation(order, SEED, 0);
  const usable = order.filter((row) => entries(labels, row).some(([id]) => labelNumbers[id] >= 0));
  return usable.subarray(0, number).toSorted();
}

function sample(dataset, rowIds, labelNumbers, featureNumbers, shape) {
  const builder = createDatasetBuilder(shape);
  for (const row of rowIds) {
    builder.addRow({
      features: entries(dataset.features, row)
        .filter(([index]) => featureNumbers[index] >= 0)
        .map(([index, value]) => [featureNumbers[index], Math.round(1000 * value) / 1000]),
      labels: entries(dataset.labels, row)
        .map(([id]) => labelNumbers[id])
        .filter((id) => id >= 0),
    });
  }
  return builder.finish();
}

/** The names, a number behind those that occurred before. */
function distinct(names) {
  const seen = new Map();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  });
}

const [source, target] = process.argv.slice(2);
if (!source || !target) throw new Error("usage: node sample-wordnet.mjs SOURCE TARGET");

const { dataset: train } = await readDatasetFile(join(source, "wordnet-hypernyms.train.txt.gz"));
const { dataset: test } = await readDatasetFile(join(source, "wordnet-hypernyms.test.txt.gz"));
const names = await readNames(join(source, "labels.txt.gz"));

const labelNumbers = renumber(mostFrequent(countColumns(train.labels), LABELS));
const trainRows = chooseRows(train, labelNumbers, TRAIN_ROWS);
const testRows = chooseRows(test, labelNumbers, TEST_ROWS);
const seen = new Set();
for (const row of trainRows) for (const [index] of entries(train.features, row)) seen.add(index);
const featureNumbers = renumber(
  Array.from({ length: train.features.columns }, (_, f) => seen.has(f)),
);
const shape = { features: seen.size, labels: LABELS };

mkdirSync(target, { recursive: true });
const pack = (name, text) => writeFileSync(join(target, name), gzipSync(text, { level: 9 }));
const write = (name, dataset, rows) =>
  pack(name, [...writeXc(sample(dataset, rows, labelNumbers, featureNumbers, shape))].join(""));
write("train.txt.gz", train, trainRows);
write("test.txt.gz", test, testRows);
const keptNames = distinct(names.filter((_, label) => labelNumbers[label] >= 0));
pack("labels.txt.gz", `${keptNames.join("\n")}\n`);
// Not copyFileSync, which would keep a write protection.
writeFileSync(join(target, "LICENSE.txt"), readFileSync(join(source, "LICENSE.txt")));
