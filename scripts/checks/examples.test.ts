import { expect, it } from "vitest";
import { projectManifest } from "./examples.mjs";

it("takes the package itself as the only dependency, and its siblings from their tarballs", () => {
  const packed = [
    { name: "@heterosgd/model", filename: "there/model.tgz" },
    { name: "@heterosgd/sparse", filename: "there/sparse.tgz" },
  ];
  expect(projectManifest("@heterosgd/model", packed)).toMatchObject({
    dependencies: { "@heterosgd/model": "file:there/model.tgz" },
    overrides: { "@heterosgd/sparse": "file:there/sparse.tgz" },
  });
});
