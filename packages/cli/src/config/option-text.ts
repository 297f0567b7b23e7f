/** Options as text: names of flags and variables, values from text, and what a value must be. */
import * as z from "zod";
import { flagName } from "./option-flags.js";
import { optionLooks, type OptionLook } from "./option-look.js";
import type { OptionSchema } from "./schema.js";

/** `learningRate` as `HETEROSGD_LEARNING_RATE`. */
export function variableName(key: string): string {
  return `HETEROSGD_${flagName(key).replaceAll("-", "_").toUpperCase()}`;
}

export function lookOf(type: z.ZodType): OptionLook {
  const look = optionLooks.get(type);
  if (look === undefined) throw new TypeError("not an option of the schema");
  return look;
}

/** Whether the value names a file. */
export function isPath(type: z.ZodType, value: string): boolean {
  const { path, names = [] } = lookOf(type);
  return path === true && !names.includes(value);
}

/** What a JSON Schema says of a value; the parts of it that occur here. */
interface ValueSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly ValueSchema[];
  readonly items?: ValueSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly pattern?: string;
  readonly default?: unknown;
}

const valueSchemas = new WeakMap<z.ZodType, ValueSchema>();

function valueSchema(type: z.ZodType): ValueSchema {
  const known = valueSchemas.get(type);
  if (known !== undefined) return known;
  const { type: types, ...rest } = z.toJSONSchema(type, { io: "input" }) as Omit<
    ValueSchema,
    "type"
  > & { readonly type?: string | readonly string[] };
  // A list of types is short for alternatives.
  const alternatives = (list: readonly string[]) => ({
    anyOf: list.map((each) => ({ type: each })),
  });
  const made = {
    ...rest,
    ...(typeof types === "string" ? { type: types } : types && alternatives(types)),
  };
  valueSchemas.set(type, made);
  return made;
}

/** The default, null where it is decided automatically. */
export function defaultOf(type: z.ZodType): unknown {
  return valueSchema(type).default;
}

export function isSwitch(type: z.ZodType): boolean {
  return accepts(valueSchema(type), "boolean");
}

export function isNullable(type: z.ZodType): boolean {
  return accepts(valueSchema(type), "null");
}

function accepts(schema: ValueSchema, type: string): boolean {
  return schema.type === type || (schema.anyOf?.some((part) => accepts(part, type)) ?? false);
}

/**
 * The words that a value must be one of, `N` for a whole number; none where it may be something else.
 */
export function choicesOf(type: z.ZodType): readonly string[] {
  const choices = (schema: ValueSchema): readonly unknown[] =>
    schema.enum ?? schema.anyOf?.flatMap(choices) ?? [];
  if (valueSchema(type).anyOf?.some(({ pattern }) => pattern !== undefined)) return [];
  const words = choices(valueSchema(type)).map(String);
  return words.length > 0 && accepts(valueSchema(type), "integer") ? [...words, "N"] : words;
}

/** What a value must be, for messages and documentation, such as `a whole number, 1 or more`. */
export function expectationOf(type: z.ZodType): string {
  const look = optionLooks.get(type);
  return look?.expected ?? (look?.path ? "a path" : expectation(valueSchema(type)));
}

function expectation(schema: ValueSchema): string {
  if (schema.anyOf) {
    const parts = schema.anyOf.filter((part) => part.type !== "null").map(expectation);
    return parts.join(" or ");
  }
  if (schema.enum)
    return schema.enum
      .map(String)
      .join(", ")
      .replace(/, ([^,]*)$/, " or $1");
  switch (schema.type) {
    case "boolean":
      return "true or false";
    case "array":
      return `a list of ${expectation(schema.items ?? {}).replace("a whole number", "whole numbers")}`;
    case "integer":
      return `a whole number${rangeOf(schema)}`;
    case "number":
      return schema.const === undefined
        ? `a number${rangeOf(schema)}`
        : JSON.stringify(schema.const);
    default:
      return "a text that is not empty";
  }
}

function rangeOf(schema: ValueSchema): string {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  // Whole numbers come with the bounds of what a double holds exactly.
  const minimum = schema.minimum === Number.MIN_SAFE_INTEGER ? undefined : schema.minimum;
  const maximum = schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum;
  const bound = (words: string, value: number | undefined) =>
    value === undefined ? [] : [`${words} ${value.toLocaleString("en-US")}`];
  if (minimum !== undefined && maximum !== undefined) {
    return ` ${[...bound("from", minimum), ...bound("to", maximum)].join(" ")}`;
  }
  const bounds = [
    ...bound("of at least", minimum),
    ...bound("above", exclusiveMinimum),
    ...bound("below", exclusiveMaximum),
    ...bound("at most", maximum),
  ];
  return bounds.length === 0 ? "" : ` ${bounds.join(" and ")}`;
}

/** The value that a text stands for; the text itself where it stands for none of the right type. */
export function valueFromText(type: z.ZodType, text: string): unknown {
  const schema = valueSchema(type);
  if (text === "none" && accepts(schema, "null")) return null;
  return fromText(schema, text);
}

function fromText(schema: ValueSchema, text: string): unknown {
  if (schema.anyOf) {
    const values = schema.anyOf.map((part) => fromText(part, text));
    return values.find((value) => value !== text) ?? text;
  }
  switch (schema.type) {
    case "boolean":
      return { true: true, "1": true, false: false, "0": false }[text] ?? text;
    case "array":
      return text.split(",").map((part) => fromText(schema.items ?? {}, part.trim()));
    case "integer":
    case "number":
      return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : text;
    default:
      return text;
  }
}

/** The options of a verb, in the order in which they are documented. */
export function optionsOf(schema: OptionSchema): readonly (readonly [string, z.ZodType])[] {
  return Object.entries(schema.shape);
}
