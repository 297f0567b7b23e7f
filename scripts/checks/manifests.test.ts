import { expect, it } from "vitest";
import { contentProblems, manifestProblems } from "./manifests.mjs";

const sound = {
  name: "@heterosgd/sparse",
  version: "1.0.0",
  description: "Sparse data.",
  type: "module",
  license: "Apache-2.0",
  sideEffects: false,
  engines: { node: ">=20.19" },
  files: ["dist", "README.md"],
  exports: { ".": { default: "./dist/index.js" }, "./package.json": "./package.json" },
  publishConfig: { access: "public", provenance: true },
};

it("has no complaint about a sound manifest", () => {
  expect(manifestProblems(sound, ">=20.19")).toEqual([]);
});

it.each([
  ["engines", { engines: { node: ">=18" } }],
  ["sideEffects", { sideEffects: undefined }],
  ["./package.json", { exports: {} }],
  ["at install", { scripts: { postinstall: "node-gyp rebuild" } }],
  ["README.md", { files: ["dist"] }],
])("complains about %s", (word, change) => {
  const problems = manifestProblems({ ...sound, ...change }, ">=20.19");
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(word);
});

it("wants built code and a README in a tarball, and no tests", () => {
  expect(contentProblems(["README.md", "dist/index.js"])).toEqual([]);
  expect(contentProblems([])).toHaveLength(2);
  expect(contentProblems(["README.md", "dist/a.js", "dist/a.test.js", "src/a.ts"])).toEqual([
    "packs what users do not need: dist/a.test.js, src/a.ts.",
  ]);
});
