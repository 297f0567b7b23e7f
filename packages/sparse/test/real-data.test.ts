import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { datasetStatistics } from "../src/index.js";
import { readDatasetFile, readNames } from "../src/node.js";

const folder =
  process.env.HETEROSGD_DATA ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));

/** Counts as the data's own README gives them: rows, features, labels, mean lengths, oddities. */
interface Expected {
  readonly file: string;
  readonly format: "xc" | "libsvm";
  readonly rows: number;
  readonly features: number;
  readonly labels: number;
  readonly meanFeatures: number;
  readonly meanLabels: number;
  readonly rowsWithoutLabels?: number;
  readonly rowsWithoutFeatures?: number;
  readonly explicitZeros?: number;
  readonly featuresNeverSeen?: number;
  readonly labelsSeenOnce?: number;
  readonly labelNames?: readonly string[];
}

const counted = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

const FILES: readonly Expected[] = [
  {
    file: "bibtex/bibtex.train",
    format: "xc",
    rows: 4880,
    features: 1836,
    labels: 159,
    meanFeatures: 68.49,
    meanLabels: 2.38,
  },
  {
    file: "bibtex/bibtex.test",
    format: "xc",
    rows: 2515,
    features: 1836,
    labels: 159,
    meanFeatures: 68.98,
    meanLabels: 2.444,
  },
  {
    file: "delicious/delicious.train",
    format: "xc",
    rows: 12_920,
    features: 500,
    labels: 983,
    meanFeatures: 18.54,
    meanLabels: 19.05,
    rowsWithoutLabels: 10,
  },
  {
    file: "delicious/delicious.test",
    format: "xc",
    rows: 3185,
    features: 500,
    labels: 983,
    meanFeatures: 17.29,
    meanLabels: 18.91,
    rowsWithoutLabels: 4,
  },
  {
    file: "cooking-stackexchange/cooking.train.xc",
    format: "xc",
    rows: 12_404,
    features: 4237,
    labels: 735,
    meanFeatures: 8.25,
    meanLabels: 2.306,
    rowsWithoutFeatures: 5,
  },
  {
    file: "cooking-stackexchange/cooking.valid.xc",
    format: "xc",
    rows: 3000,
    features: 4237,
    labels: 735,
    meanFeatures: 7.98,
    meanLabels: 2.312,
    rowsWithoutFeatures: 1,
  },
  {
    file: "wordnet-hypernyms/wordnet-hypernyms.train",
    format: "xc",
    rows: 65_691,
    features: 38_853,
    labels: 15_929,
    meanFeatures: 12.71,
    meanLabels: 4.36,
    labelsSeenOnce: 5497,
  },
  {
    file: "wordnet-hypernyms/wordnet-hypernyms.test",
    format: "xc",
    rows: 16_423,
    features: 38_853,
    labels: 15_929,
    meanFeatures: 12.31,
    meanLabels: 4.284,
  },
  {
    file: "w8a/w8a.train",
    format: "libsvm",
    rows: 39_799,
    features: 300,
    labels: 2,
    meanFeatures: 11.7,
    meanLabels: 1,
    rowsWithoutFeatures: 3358,
    labelNames: ["-1", "1"],
  },
  {
    file: "w8a/w8a.test",
    format: "libsvm",
    rows: 9950,
    features: 300,
    labels: 2,
    meanFeatures: 11.46,
    meanLabels: 1,
    rowsWithoutFeatures: 845,
    labelNames: ["-1", "1"],
  },
  {
    file: "covtype20k/covtype20k.train",
    format: "libsvm",
    rows: 16_000,
    features: 54,
    labels: 7,
    meanFeatures: 11.76,
    meanLabels: 1,
    featuresNeverSeen: 3,
    labelNames: counted(1, 7),
  },
  {
    file: "covtype20k/covtype20k.test",
    format: "libsvm",
    rows: 4000,
    features: 54,
    labels: 7,
    meanFeatures: 11.75,
    meanLabels: 1,
    featuresNeverSeen: 3,
    labelNames: counted(1, 7),
  },
  {
    file: "covtype20k/covtype20k.scale01.train",
    format: "libsvm",
    rows: 16_000,
    features: 54,
    labels: 7,
    meanFeatures: 11.88,
    meanLabels: 1,
    featuresNeverSeen: 3,
    labelNames: counted(1, 7),
  },
  {
    file: "sector/sector.scale.train",
    format: "libsvm",
    rows: 6412,
    features: 55_197,
    labels: 105,
    meanFeatures: 163.04,
    meanLabels: 1,
    featuresNeverSeen: 6110,
    labelNames: counted(1, 105),
  },
  {
    file: "sector/sector.scale.test",
    format: "libsvm",
    rows: 3207,
    features: 55_197,
    labels: 105,
    meanFeatures: 163.55,
    meanLabels: 1,
    labelNames: counted(1, 105),
  },
  {
    file: "yeast/yeast.train",
    format: "libsvm",
    rows: 1500,
    features: 103,
    labels: 14,
    meanFeatures: 103,
    meanLabels: 4.228,
    labelNames: counted(0, 13),
  },
  {
    file: "yeast/yeast.test",
    format: "libsvm",
    rows: 917,
    features: 103,
    labels: 14,
    meanFeatures: 103,
    meanLabels: 4.252,
    explicitZeros: 1,
    labelNames: counted(0, 13),
  },
];

describe.skipIf(!existsSync(folder))("readers on real data", () => {
  it.each(FILES)("read $file as its description says", async (expected) => {
    const path = `${folder}/${expected.file}.txt.gz`;
    const { dataset, format, labelNames } = await readDatasetFile(path);
    const statistics = datasetStatistics(dataset);
    expect(format).toBe(expected.format);
    expect(labelNames).toEqual(expected.labelNames ?? null);
    expect(statistics).toMatchObject({
      rows: expected.rows,
      features: expected.features,
      labels: expected.labels,
      rowsWithoutLabels: expected.rowsWithoutLabels ?? 0,
      rowsWithoutFeatures: expected.rowsWithoutFeatures ?? 0,
      explicitZeros: expected.explicitZeros ?? 0,
      featuresNeverSeen: expected.featuresNeverSeen ?? statistics.featuresNeverSeen,
      labelsSeenOnce: expected.labelsSeenOnce ?? statistics.labelsSeenOnce,
    });
    expect(statistics.rowLengths.mean).toBeCloseTo(expected.meanFeatures, 2);
    expect(statistics.labelsOfRows.mean).toBeCloseTo(expected.meanLabels, 2);
  });

  it.each([
    ["bibtex", 159, "TAG_2005"],
    ["delicious", 983, "TAG_.imported"],
    ["cooking-stackexchange", 735, "acidity"],
    ["wordnet-hypernyms", 15_929, "entity"],
  ])("read the label names of %s", async (name, count, first) => {
    const names = await readNames(`${folder}/${name}/labels.txt.gz`);
    expect(names.length).toBe(count);
    expect(names[0]).toBe(first);
  });
});
