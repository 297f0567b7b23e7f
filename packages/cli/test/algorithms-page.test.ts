import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { algorithms } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import { presets } from "../src/algorithms.js";
import { flagName } from "../src/config/option-flags.js";
import { ownHelp, ownOptions } from "../src/config/own-options.js";
import { optimizers } from "../src/optimizers.js";

const pathOf = (name: string) => fileURLToPath(new URL(`../docs/${name}`, import.meta.url));

function overview(): string {
  const rows = Object.entries(algorithms).map(([name, { summary, optimizer, races }]) => {
    const { optimizer: preset = optimizer === "sgd" ? "sgd" : "adam", learningRate } =
      presets[name] ?? {};
    const rate = learningRate ?? optimizers[preset].learningRate;
    const takes = optimizer === "sgd" ? "sgd" : "any";
    return `| [\`${name}\`](algorithms/${name}.md) | ${summary} | ${takes} | ${preset} at ${rate} | ${races ? "no" : "yes"} |`;
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

/** Page, mark and content of every part that comes from the registry. */
const generated = [
  ["algorithms.md", "overview", overview()] as const,
  ...Object.keys(algorithms).map(
    (name) => [`algorithms/${name}.md`, `options ${name}`, optionTable(name)] as const,
  ),
];

const sectionOf = (mark: string) =>
  new RegExp(`(<!-- ${mark}(?:: [^>]*)? -->\\n)([\\s\\S]*?)(<!-- /${mark} -->)`);

/** A table's cells, however a formatter has laid them out. */
const normalised = (markdown: string) =>
  markdown.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---").replaceAll("\\|", "|").trim();

test.each(generated)("docs/%s has what the registry says: %s", (page, mark, content) => {
  const file = pathOf(page);
  if (process.env["UPDATE_README"]) {
    const updated = readFileSync(file, "utf8").replace(
      sectionOf(mark),
      (_, begin: string, __, end: string) => `${begin}\n${content}\n\n${end}`,
    );
    writeFileSync(file, updated);
  }
  const text = readFileSync(file, "utf8");
  expect(normalised(sectionOf(mark).exec(text)?.[2] ?? "none")).toBe(normalised(content));
});

test("every algorithm has a page, and every page an algorithm", () => {
  const names = readdirSync(pathOf("algorithms")).map((name) => name.replace(/\.md$/, ""));
  expect(new Set(names)).toEqual(new Set(Object.keys(algorithms)));
});

test.each(Object.keys(algorithms))(
  "the page of %s says what it does, when to use it, and what it does when devices change",
  (name) => {
    const text = readFileSync(pathOf(`algorithms/${name}.md`), "utf8");
    expect(text.split("\n")[0]).toBe(`# \`${name}\``);
    const [, ...sections] = text.split(/^## /m);
    expect(sections.map((section) => section.split("\n")[0])).toEqual([
      "When to use it",
      "When devices change",
      "Options",
    ]);
    const changes = [...(sections[1] ?? "").matchAll(/^- \*\*(\w+):\*\* .{10,}/gm)];
    expect(changes.map(([, change]) => change)).toEqual(["Speed", "Leaving", "Joining"]);
  },
);
