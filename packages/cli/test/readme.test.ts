import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { flagName } from "../src/config/option-flags.js";
import {
  choicesOf,
  defaultOf,
  expectationOf,
  isSwitch,
  lookOf,
  optionsOf,
} from "../src/config/option-text.js";
import { trainSchema } from "../src/config/schema.js";
import { cliErrorCodes, CliError, exitCodeOf } from "../src/errors.js";

const file = fileURLToPath(new URL("../README.md", import.meta.url));
const section = /(<!-- options: .* -->\n)([\s\S]*?)(<!-- \/options -->)/;

/** Tables of all options, a group each. */
function optionTables(): string {
  let group = "";
  const lines: string[] = [];
  for (const [key, type] of optionsOf(trainSchema)) {
    const look = lookOf(type);
    if (look.group !== group) {
      group = look.group;
      lines.push(
        "",
        `### ${group}`,
        "",
        "| flag | value | default | what |",
        "| --- | --- | --- | --- |",
      );
    }
    const short = look.short === undefined ? "" : `\`-${look.short}\`, `;
    const named = look.value === undefined ? "" : ` [${look.value}]`;
    const flag = isSwitch(type)
      ? `\`--[no-]${flagName(key)}${named}\``
      : `${short}\`--${flagName(key)}\``;
    const choices = choicesOf(type).map((choice) => `\`${choice}\``);
    const value = isSwitch(type)
      ? named && expectationOf(type)
      : choices.length > 0
        ? choices.join(", ")
        : expectationOf(type);
    const text = JSON.stringify(defaultOf(type)).replaceAll(/[[\]"]/g, "");
    const byDefault = text === "null" ? "" : `\`${text}\``;
    lines.push(`| ${flag} | ${value} | ${byDefault} | ${type.description} |`);
  }
  return `${lines.join("\n").replaceAll(" |  |", " | |")}\n\n`;
}

/** A table's cells, however a formatter has laid them out. */
function normalised(markdown: string): string {
  return markdown.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---").replaceAll("\\|", "|").trim();
}

test("the README has every option as the schema has it", () => {
  const text = readFileSync(file, "utf8");
  if (process.env["UPDATE_README"]) {
    writeFileSync(
      file,
      text.replace(
        section,
        (_, begin: string, __, end: string) => `${begin}${optionTables()}${end}`,
      ),
    );
  }
  const [, , tables = ""] = section.exec(readFileSync(file, "utf8")) ?? [];
  expect(normalised(tables)).toBe(normalised(optionTables()));
});

test("the README has every error code of the command with its exit code", () => {
  const rows = [...readFileSync(file, "utf8").matchAll(/^\| `([A-Z_]+)` +\| (\d) +\|/gm)];
  const listed = rows.map(([, code, exit]) => [code, Number(exit)]);
  expect(listed).toEqual(cliErrorCodes.map((code) => [code, exitCodeOf(new CliError(code, ""))]));
});
