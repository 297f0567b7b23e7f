import { expect, test } from "vitest";
import { filesOf } from "./named-sets.js";

test("a set is two files below the folder", () => {
  expect(filesOf("bibtex", "/data")).toEqual([
    "/data/bibtex/bibtex.train.txt.gz",
    "--test",
    "/data/bibtex/bibtex.test.txt.gz",
  ]);
  expect(() => filesOf("toString", "/data")).toThrow(/no data set "toString"; there are wordnet/u);
});
