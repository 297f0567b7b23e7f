import * as z from "zod";
import { flagName } from "../config/option-flags.js";
import {
  defaultOf,
  expectationOf,
  isNullable,
  isSwitch,
  lookOf,
  optionsOf,
  variableName,
} from "../config/option-text.js";
import { trainSchema } from "../config/schema.js";
import { CliError, exitCodes, type ExitCode } from "../errors.js";
import type { Output } from "../output/output.js";
import { pairLines } from "../output/table.js";
import { suggest } from "../suggest.js";

export interface ConfigFlags {
  readonly defaults?: boolean;
  readonly schema?: boolean;
  readonly explain?: string;
}

/**
 * `heterosgd config`
 *
 * @throws CliError USAGE if more than one thing is wanted; UNKNOWN_KEY
 */
export function configCommand(flags: ConfigFlags, output: Output): ExitCode {
  const { schema, explain } = flags;
  const wanted = (["defaults", "schema", "explain"] as const).filter((name) => flags[name]);
  if (wanted.length > 1) {
    throw new CliError("USAGE", `--${wanted.join(" and --")} exclude each other`, {
      hint: "they print one thing at a time",
    });
  }
  if (explain !== undefined) explainOption(explain, output);
  else output.print(JSON.stringify(schema ? configJsonSchema() : defaultConfig(), null, 2));
  return exitCodes.done;
}

/** Every key with its default, null where the value is decided automatically or there is none. */
export function defaultConfig(): unknown {
  return trainSchema.parse({});
}

/** The JSON Schema of config files, by which editors complete and check them. */
export function configJsonSchema(): unknown {
  const schema = z.toJSONSchema(trainSchema, { io: "input" });
  const $schema = { description: "Where editors find this schema.", type: "string" };
  return {
    ...schema,
    title: "Configuration of heterosgd train",
    properties: { $schema, ...schema.properties },
  };
}

function explainOption(name: string, output: Output): void {
  const options = optionsOf(trainSchema);
  const wanted = name.replace(/^--(no-)?/, "");
  const found = options.find(([key]) => key === wanted || flagName(key) === wanted);
  if (found === undefined) {
    const near = suggest(
      wanted,
      options.map(([key]) => key),
    );
    throw new CliError("UNKNOWN_KEY", `there is no option "${name}"`, {
      hint: near === null ? "heterosgd config --defaults lists all" : `did you mean "${near}"?`,
    });
  }
  const [key, type] = found;
  const flag = flagName(key);
  const { value } = lookOf(type);
  const named = value === undefined ? "" : ` [${value}]`;
  const lines = pairLines([
    ["key", key],
    ["flag", isSwitch(type) ? `--${flag}${named}, --no-${flag}` : `--${flag}`],
    ["variable", variableName(key)],
    [
      "value",
      `${expectationOf(type)}${isNullable(type) ? " (none, in JSON null: automatic or not at all)" : ""}`,
    ],
    ["default", defaultText(defaultOf(type))],
  ]);
  output.print(type.description ?? "");
  for (const line of lines) output.print(line);
}

function defaultText(value: unknown): string {
  return value === null ? "none" : JSON.stringify(value);
}
