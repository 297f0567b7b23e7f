import { expect, test } from "vitest";
import { decide } from "../config/complete.js";
import { trainSchema } from "../config/schema.js";
import { defaultFolder } from "./train.js";

test.each([
  ["data/bibtex.train.txt.gz", "bibtex"],
  ["data/bibtex/train.txt", "bibtex"],
  ["rows.svm", "rows"],
  ["train.txt", "run"],
])("a run on %s is named after the time and the data", (train, name) => {
  const now = new Date("2026-11-30T14:25:01.9Z");
  const folder = defaultFolder(decide(trainSchema.parse({ train })), now);
  expect(folder.replaceAll("\\", "/")).toBe(`runs/20261130-142501-${name}`);
});
