/** Puts an invocation's configuration together: flags, then file, then environment, then defaults. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import * as z from "zod";
import { algorithms } from "../algorithms.js";
import { CliError } from "../errors.js";
import { suggest } from "../suggest.js";
import {
  expectationOf,
  flagName,
  isNullable,
  lookOf,
  optionsOf,
  valueFromText,
  variableName,
} from "./option-text.js";
import { trainSchema, type OptionSchema, type TrainConfig } from "./schema.js";

/** Values from one place, the options that it does not set left out. */
export interface Layer {
  readonly values: Readonly<Record<string, unknown>>;
  /** How messages name the place of an option. */
  readonly nameOf: (key: string) => string;
}

/** What the command line sets. Switches are booleans, everything else is text. */
export function flagLayer(schema: OptionSchema, flags: Readonly<Record<string, unknown>>): Layer {
  return { values: fromTexts(schema, (key) => flags[key]), nameOf: (key) => `--${flagName(key)}` };
}

/** What `HETEROSGD_…` variables set; empty ones set nothing. */
export function environmentLayer(
  schema: OptionSchema,
  environment: Readonly<Record<string, string | undefined>>,
): Layer {
  return {
    values: fromTexts(schema, (key) => environment[variableName(key)] || undefined),
    nameOf: variableName,
  };
}

function fromTexts(
  schema: OptionSchema,
  textOf: (key: string) => unknown,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, type] of optionsOf(schema)) {
    const text = textOf(key);
    if (text !== undefined)
      values[key] = typeof text === "string" ? valueFromText(type, text) : text;
  }
  return values;
}

/**
 * What a config file sets. Its relative paths are relative to its folder.
 *
 * @throws CliError CONFIG_UNREADABLE, CONFIG_FORMAT, UNKNOWN_KEY
 */
export async function fileLayer(schema: OptionSchema, file: string): Promise<Layer> {
  const values = await readObject(file);
  const options = new Map(optionsOf(schema));
  const layer: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    if (key === "$schema") continue;
    const type = options.get(key);
    if (type === undefined) {
      const near = suggest(key, options.keys());
      const hint =
        near === null ? "heterosgd config --defaults lists all keys" : `did you mean "${near}"?`;
      throw new CliError("UNKNOWN_KEY", `unknown key "${key}" in ${file}`, { hint });
    }
    layer[key] =
      lookOf(type).path && typeof value === "string" ? resolve(dirname(file), value) : value;
  }
  return { values: layer, nameOf: (key) => `"${key}" in ${file}` };
}

async function readObject(file: string): Promise<object> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why =
      { ENOENT: "there is no such file", EISDIR: "it is a folder" }[code ?? ""] ?? message;
    throw new CliError("CONFIG_UNREADABLE", `cannot read the config file ${file}: ${why}`, {
      cause,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new CliError("CONFIG_FORMAT", `${file} is no JSON: ${message}`, { cause });
  }
  throw new CliError(
    "CONFIG_FORMAT",
    `${file} holds no JSON object, but must be like {"epochs": 5}`,
  );
}

/**
 * The first layer that sets an option decides it; the schema has the defaults.
 *
 * @throws CliError BAD_VALUE, naming option, received and expected value.
 */
export function resolveOptions<T extends OptionSchema>(
  schema: T,
  layers: readonly Layer[],
): z.output<T> {
  const values: Record<string, unknown> = {};
  for (const [key, type] of optionsOf(schema)) {
    const layer = layers.find((candidate) => candidate.values[key] !== undefined);
    const parsed = type.safeParse(layer?.values[key]);
    if (!parsed.success) throw badValue(type, layer?.nameOf(key) ?? key, layer?.values[key]);
    values[key] = parsed.data;
  }
  return values as z.output<T>;
}

function badValue(type: z.ZodType, name: string, received: unknown): CliError {
  const text = JSON.stringify(received) ?? String(received);
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  const expected = expectationOf(type);
  const orNone = isNullable(type) ? (name.includes('"') ? " or null" : " or none") : "";
  return new CliError("BAD_VALUE", `${name} is ${shown}, but must be ${expected}${orNone}`);
}

/** `train`'s configuration. `paper` puts the algorithm's published values between all layers and the defaults. */
export function resolveTraining(layers: readonly Layer[]): TrainConfig {
  const explicit = resolveOptions(trainSchema, layers);
  if (!explicit.paper) return explicit;
  const published: Layer = { values: algorithms[explicit.algorithm].published, nameOf: flagName };
  return resolveOptions(trainSchema, [...layers, published]);
}
