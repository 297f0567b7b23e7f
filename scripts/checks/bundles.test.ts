import { expect, it } from "vitest";
import { bundleForBrowser } from "./bundles.mjs";

it("bundles TypeScript, and refuses a Node built-in", async () => {
  const sound = await bundleForBrowser("const a: number = 1; console.log(a);");
  expect(sound).toEqual({ code: expect.stringContaining("console.log(1)") });
  const { problem } = await bundleForBrowser(`import "node:fs";`);
  expect(problem).toContain("node:fs");
});
