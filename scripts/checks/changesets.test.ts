import { expect, it } from "vitest";
import { changesetProblems } from "./changesets.mjs";

const packages = {
  known: ["@heterosgd/sparse", "@heterosgd/server", "heterosgd"],
  bundled: ["@heterosgd/sparse"],
  command: "heterosgd",
};
const changeset = (front: readonly string[], summary = "Reads files faster.") =>
  `---\n${front.map((line) => `${line}\n`).join("")}---\n\n${summary}\n`;

it("accepts a bundled package beside the command, and any other package alone", () => {
  const both = changeset(['"@heterosgd/sparse": minor', '"heterosgd": minor']);
  expect(changesetProblems(both, packages)).toEqual([]);
  expect(changesetProblems(changeset(["'@heterosgd/server': patch"]), packages)).toEqual([]);
});

it("accepts an empty changeset, which says that nothing is released", () => {
  expect(changesetProblems(changeset([], ""), packages)).toEqual([]);
});

it("refuses a bundled package without the command", () => {
  expect(changesetProblems(changeset(['"@heterosgd/sparse": minor']), packages)).toEqual([
    "names @heterosgd/sparse, which heterosgd bundles, but not heterosgd.",
  ]);
});

it("refuses unknown packages, unknown bumps, no summary and no front matter", () => {
  const problems = (text: string) => changesetProblems(text, packages).join();
  expect(problems(changeset(['"@heterosgd/spares": minor']))).toContain("no public package");
  expect(problems(changeset(['"heterosgd": huge']))).toContain("major|minor|patch");
  expect(problems(changeset(['"heterosgd": patch'], " "))).toContain("does not say");
  expect(problems("heterosgd: patch\n")).toContain("front matter");
});
