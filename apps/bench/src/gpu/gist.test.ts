import { expect, test } from "vitest";
import { gist } from "./gist.js";

test("of a stack trace the error's line is told, wherever it begins", () => {
  const trace =
    "/a/main.js:5\n  throw x;\n  ^\n\nGpuKernelsError: lost: why\n    at f (a.js:1)\n\nNode.js v20";
  expect(gist(trace)).toBe("GpuKernelsError: lost: why");
  expect(gist(`node main.js ended (1): ${trace}`)).toBe("GpuKernelsError: lost: why");
  expect(gist("node main.js ended (1): Error: short\n  at")).toBe("Error: short");
});

test("of anything else, the last lines as one", () => {
  expect(gist("a\nb\nc\nd\n")).toBe("b; c; d");
  expect(gist("")).toBe("");
});
