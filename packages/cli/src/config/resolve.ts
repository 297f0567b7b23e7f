/**
 * Puts an invocation's configuration together: flags, then file, then environment, then defaults.
 */
import { dirname, resolve } from "node:path";
import * as z from "zod";
import { presets } from "../algorithms.js";
import { CliError } from "../errors.js";
import { readSmallFile, whyUnreadable } from "../small-file.js";
import { suggest } from "../suggest.js";
import { flagName } from "./option-flags.js";
import {
  expectationOf,
  isNullable,
  isPath,
  optionsOf,
  valueFromText,
  variableName,
} from "./option-text.js";
import { ownersOf, ownNames, ownOptions } from "./own-options.js";
import { predictSchema, trainSchema, type OptionSchema, type TrainConfig } from "./schema.js";

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

/**
 * Variables that are no options: where tests find data, whether errors show where they come from,
 * whether a build must make the native kernels, and which libraries GPU drivers are called through.
 */
const otherVariables = [
  "HETEROSGD_CUBLAS",
  "HETEROSGD_CUDA_LIBRARY",
  "HETEROSGD_DATA",
  "HETEROSGD_DEBUG",
  "HETEROSGD_NATIVE",
  "HETEROSGD_OPENCL_LIBRARY",
];

/**
 * Refuses variables named like options that there are not, by any verb.
 *
 * @throws CliError UNKNOWN_KEY
 */
export function checkVariables(environment: Readonly<Record<string, string | undefined>>): void {
  const options = [trainSchema, predictSchema].flatMap((schema) => Object.keys(schema.shape));
  const known = new Set([...options.map(variableName), ...otherVariables]);
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith("HETEROSGD_") || !value || known.has(name)) continue;
    const near = suggest(name, known);
    throw new CliError("UNKNOWN_KEY", `unknown environment variable ${name}`, {
      hint:
        near === null ? "heterosgd config --defaults lists all options" : `did you mean ${near}?`,
    });
  }
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
      throw new CliError("UNKNOWN_KEY", `unknown key "${shortened(key)}" in ${file}`, { hint });
    }
    layer[key] =
      typeof value === "string" && isPath(type, value) ? resolve(dirname(file), value) : value;
  }
  return { values: layer, nameOf: (key) => `"${key}" in ${file}` };
}

async function readObject(file: string): Promise<object> {
  let text: string;
  try {
    text = await readSmallFile(file);
  } catch (cause) {
    throw new CliError(
      "CONFIG_UNREADABLE",
      `cannot read the config file ${file}: ${whyUnreadable(cause)}`,
      { cause },
    );
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    // Options are flat. What is nested too deeply to be written again can be no message either.
    JSON.stringify(value);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (cause) {
    const why =
      cause instanceof RangeError
        ? "is nested too deeply"
        : `is no JSON: ${(cause as SyntaxError).message}`;
    throw new CliError("CONFIG_FORMAT", `${file} ${why}`, { cause });
  }
  throw new CliError(
    "CONFIG_FORMAT",
    `${file} holds no JSON object, but must be like {"epochs": 5}`,
  );
}

/**
 * The first layer that sets an option decides it; the schema has the defaults. Values that another
 * layer wins over are checked too.
 *
 * @throws CliError BAD_VALUE, naming option, received and expected value.
 */
export function resolveOptions<T extends OptionSchema>(
  schema: T,
  layers: readonly Layer[],
): z.output<T> {
  const values: Record<string, unknown> = {};
  for (const [key, type] of optionsOf(schema)) {
    const [value = type.parse(undefined)] = layers
      .filter((layer) => layer.values[key] !== undefined)
      .map((layer) => valueIn(layer, key, type));
    values[key] = value;
  }
  return values as z.output<T>;
}

/** What a layer sets, checked. @throws CliError BAD_VALUE */
export function checkedValues(
  schema: OptionSchema,
  layer: Layer,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    optionsOf(schema).flatMap(([key, type]) =>
      layer.values[key] === undefined ? [] : [[key, valueIn(layer, key, type)]],
    ),
  );
}

function valueIn(layer: Layer, key: string, type: z.ZodType): unknown {
  const parsed = type.safeParse(layer.values[key]);
  if (!parsed.success) throw badValue(type, layer.nameOf(key), layer.values[key]);
  return parsed.data;
}

function badValue(type: z.ZodType, name: string, received: unknown): CliError {
  const isInFile = name.includes('"');
  const text =
    Array.isArray(received) && !isInFile
      ? received.join(",")
      : (JSON.stringify(received) ?? String(received));
  const expected = expectationOf(type);
  const orNone = isNullable(type) ? (isInFile ? ", or null" : ", or none") : "";
  return new CliError(
    "BAD_VALUE",
    `${name} is ${shortened(text)}, but must be ${expected}${orNone}`,
  );
}

/** What comes from a file may be of any length. */
function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * `train`'s configuration. `paper` puts the algorithm's published values between all layers and the
 * defaults.
 */
export function resolveTraining(layers: readonly Layer[]): TrainConfig {
  resolveOptions(trainSchema, layers);
  const effective = withoutOtherData(layers);
  const explicit = resolveOptions(trainSchema, effective);
  refuseForeign(explicit.algorithm, effective);
  const { published: values } = presets[explicit.algorithm] ?? {};
  if (!explicit.paper || values === undefined) return explicit;
  const published: Layer = { values, nameOf: flagName };
  return resolveOptions(trainSchema, [...effective, published]);
}

/**
 * Refuses what is set of options that other algorithms have.
 *
 * @throws CliError CONFLICT
 */
function refuseForeign(algorithm: string, layers: readonly Layer[]): void {
  const own = Object.keys(ownOptions(algorithm));
  for (const { values, nameOf } of layers) {
    for (const name of ownNames) {
      if ((values[name] ?? null) === null || own.includes(name)) continue;
      throw new CliError(
        "CONFLICT",
        `${nameOf(name)} is an option of ${ownersOf(name).join(", ")}, but the algorithm is ${algorithm}`,
        {
          hint: `the options of ${algorithm} are ${own.map((key) => `--${flagName(key)}`).join(", ")}`,
        },
      );
    }
  }
}

/**
 * Whoever names data, the bundled sample or files, wins over the other kind in all layers below.
 */
function withoutOtherData(layers: readonly Layer[]): readonly Layer[] {
  let hasSample = false;
  let hasFiles = false;
  return layers.map(({ values, nameOf }) => {
    const { sample, train, test, labelNames, ...rest } = values;
    const kept = {
      ...rest,
      ...(hasFiles ? {} : { sample }),
      ...(hasSample ? {} : { train, test, labelNames }),
    };
    hasSample ||= sample === true;
    hasFiles ||= typeof train === "string";
    return { values: kept, nameOf };
  });
}
