import { describe, expect, it } from "vitest";
import { commandLines, firstBlock } from "./readme.mjs";

const markdown = [
  "# Title",
  "```sh",
  "npm install heterosgd",
  "```",
  "```ts",
  "first();",
  "```",
  "```ts",
  "second();",
  "```",
  "```sh",
  "$ npx heterosgd train \\",
  "    --epochs 1",
  "heterosgd devices",
  "heterosgd-like tool",
  "ls",
  "```",
  "```sh",
  "heterosgd config",
  "```",
].join("\n");

describe("firstBlock", () => {
  it("returns the first block of the language", () => {
    expect(firstBlock(markdown, "ts")).toBe("first();\n");
  });

  it("does not take a longer language name for a shorter one", () => {
    expect(firstBlock("```tsx\nx\n```\n", "ts")).toBeUndefined();
  });
});

describe("commandLines", () => {
  it("returns the calls of the command in the first block that has any", () => {
    expect(commandLines(markdown, "heterosgd")).toEqual([
      "heterosgd train --epochs 1",
      "heterosgd devices",
    ]);
  });

  it("returns none where the command is never called", () => {
    expect(commandLines("```sh\nls\n```\n", "heterosgd")).toEqual([]);
  });
});
