import { expect, test } from "vitest";
import { programWords, quoted, shortPath } from "./invocation.js";

const folder = "/srv/project";

test.each([
  ["/usr/local/bin/heterosgd", { PATH: "/usr/bin:/usr/local/bin" }, "heterosgd"],
  ["/srv/project/node_modules/.bin/heterosgd", { PATH: "/usr/bin" }, "npx heterosgd"],
  [
    "/srv/project/node_modules/.bin/heterosgd",
    { PATH: "/srv/project/node_modules/.bin:/usr/bin", npm_command: "exec" },
    "npx heterosgd",
  ],
  ["/srv/project/packages/cli/dist/main.js", {}, "node packages/cli/dist/main.js"],
  ["/opt/it is here/main.js", {}, "node '/opt/it is here/main.js'"],
])("%s is started again as it was", (script, environment, words) => {
  expect(programWords({ script, folder, environment })).toBe(words);
});

test("words are quoted where a shell needs it", () => {
  expect(["a/b-1.txt", "a b", "it's", "*"].map(quoted)).toEqual([
    "a/b-1.txt",
    "'a b'",
    "'it'\\''s'",
    "'*'",
  ]);
});

test("paths are relative below the folder only", () => {
  expect(shortPath("/srv/project/runs/x", folder)).toBe("runs/x");
  expect(shortPath("/data/x", folder)).toBe("/data/x");
  expect(shortPath(folder, folder)).toBe(folder);
});
