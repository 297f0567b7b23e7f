import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { algorithms } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import { presets } from "../src/algorithms.js";
import { flagName } from "../src/config/option-flags.js";
import { ownHelp, ownOptions } from "../src/config/own-options.js";
import { optimizers } from "../src/optimizers.js";

const file = fileURLToPath(new URL("../docs/algorithms.md", import.meta.url));

function overview(): string {
  const rows = Object.entries(algorithms).map(([name, { summary, optimizer, races }]) => {
    const { optimizer: preset = optimizer === "sgd" ? "sgd" : "adam", learningRate } =
      presets[name] ?? {};
    const rate = learningRate ?? optimizers[preset].learningRate;
    const takes = optimizer === "sgd" ? "sgd" : "any";
    return `| [\`${name}\`](#${name}) | ${summary} | ${takes} | ${preset} at ${rate} | ${races ? "no" : "yes"} |`;
  });
  const head = ["| name | in a line | optimizer | automatic | repeatable from its events |"];
  return [...head, "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

function optionTable(name: string): string {
  const rows = Object.entries(ownOptions(name)).map(([key, info]) => {
    const flag = info.kind === "switch" ? `--[no-]${flagName(key)}` : `--${flagName(key)}`;
    return `| \`${flag}\` | ${ownHelp(info)} |`;
  });
  const source = `Source: ${algorithms[name]!.source}.`;
  return ["| option | what |", "| --- | --- |", ...rows, "", source].join("\n");
}

const generated = [
  ["overview", overview()] as const,
  ...Object.keys(algorithms).map((name) => [`options ${name}`, optionTable(name)] as const),
];

const sectionOf = (mark: string) =>
  new RegExp(`(<!-- ${mark}(?:: [^>]*)? -->\\n)([\\s\\S]*?)(<!-- /${mark} -->)`);

/** A table's cells, however a formatter has laid them out. */
const normalised = (markdown: string) =>
  markdown.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---").replaceAll("\\|", "|").trim();

test("the page has every algorithm of the registry, with its options and its source", () => {
  if (process.env["UPDATE_README"]) {
    const updated = generated.reduce(
      (text, [mark, content]) =>
        text.replace(
          sectionOf(mark),
          (_, begin: string, __, end: string) => `${begin}\n${content}\n\n${end}`,
        ),
      readFileSync(file, "utf8"),
    );
    writeFileSync(file, updated);
  }
  const text = readFileSync(file, "utf8");
  for (const [mark, content] of generated) {
    expect(normalised(sectionOf(mark).exec(text)?.[2] ?? "none"), mark).toBe(normalised(content));
  }
  const headings = [...text.matchAll(/^## `(.+)`$/gm)].map(([, name]) => name);
  expect(new Set(headings)).toEqual(new Set(Object.keys(algorithms)));
});
