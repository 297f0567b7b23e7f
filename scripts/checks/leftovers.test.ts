import { expect, it } from "vitest";
import { leftovers } from "./leftovers.mjs";

const longText = "x\n".repeat(401);
const machinePath = ["", "home", "me", "data"].join("/");

it("refuses a source file over the limit, but not a test or a table", () => {
  expect(leftovers("packages/a/src/b.ts", longText)).toHaveLength(1);
  expect(leftovers("packages/a/src/b.test.ts", longText)).toEqual([]);
  expect(leftovers("packages/a/test/b.ts", longText)).toEqual([]);
  expect(leftovers("packages/a/data/train.txt", longText)).toEqual([]);
  expect(leftovers("packages/a/src/b.ts", longText.slice(2))).toEqual([]);
});

it("refuses paths of one machine with their place, but not paths that only look alike", () => {
  expect(leftovers("README.md", `\ncd ${machinePath}\n`)).toEqual([
    `README.md:2 names a path of one machine: cd ${machinePath}`,
  ]);
  expect(leftovers("README.md", `see ./docs${machinePath} and x${machinePath}`)).toEqual([]);
});

it("refuses addresses in the lock file alone", () => {
  expect(leftovers("pnpm-lock.yaml", "tarball: x\nurl: https://example.org/\n")).toHaveLength(2);
  expect(leftovers("README.md", "https://example.org/")).toEqual([]);
});
