import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { datasetStatistics } from "@heterosgd/sparse";
import { readDatasetFile, readNames } from "@heterosgd/sparse/node";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sample = join(root, "packages/cli/data/wordnet-hypernyms");
const source = join(
  process.env.HETEROSGD_DATA ?? join(root, "../shared/data"),
  "wordnet-hypernyms",
);

describe("the bundled sample of WordNet", () => {
  it("takes at most 1.5 MB in all, with WordNet's notice", () => {
    const bytes = readdirSync(sample).reduce(
      (sum, name) => sum + statSync(join(sample, name)).size,
      0,
    );
    expect(bytes).toBeLessThan(1.5e6);
    const licence = readFileSync(join(sample, "LICENSE.txt"), "utf8");
    expect(licence).toContain("WordNet 3.0 Copyright 2006 by Princeton University");
  });

  it("holds what its description says, every row with a label, every label with a name", async () => {
    const train = await readDatasetFile(join(sample, "train.txt.gz"));
    expect(datasetStatistics(train.dataset)).toMatchObject({
      rows: 12_000,
      features: 22_758,
      labels: 1000,
      rowsWithoutLabels: 0,
      rowsWithoutFeatures: 0,
      featuresNeverSeen: 0,
      labelsNeverSeen: 0,
      explicitZeros: 0,
    });
    const test = await readDatasetFile(join(sample, "test.txt.gz"));
    expect(datasetStatistics(test.dataset)).toMatchObject({
      rows: 2000,
      features: 22_758,
      labels: 1000,
      rowsWithoutLabels: 0,
      rowsWithoutFeatures: 0,
    });
    const names = await readNames(join(sample, "labels.txt.gz"));
    expect(names.length).toBe(1000);
    expect(new Set(names).size).toBe(1000);
    expect(names).toContain("physical_entity");
  });

  const built = existsSync(join(root, "packages/sparse/dist/node.js"));
  it.skipIf(!existsSync(source) || !built)("is what the program makes of the source", () => {
    const target = mkdtempSync(join(tmpdir(), "wordnet-"));
    try {
      execFileSync(process.execPath, [
        join(root, "scripts/data/sample-wordnet.mjs"),
        source,
        target,
      ]);
      for (const name of ["train.txt.gz", "test.txt.gz", "labels.txt.gz"]) {
        const made = gunzipSync(readFileSync(join(target, name)));
        expect(made.equals(gunzipSync(readFileSync(join(sample, name)))), name).toBe(true);
      }
    } finally {
      rmSync(target, { recursive: true });
    }
  });
});
