import { expect, it } from "vitest";
import { hasTypedEntry } from "./resolution.mjs";

it("tells a package that can be imported from one that is only run", () => {
  expect(hasTypedEntry({ "./package.json": "./package.json" })).toBe(false);
  expect(hasTypedEntry({ ".": { types: "./a.d.ts", default: "./a.js" } })).toBe(true);
});
