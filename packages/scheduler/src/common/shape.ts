/**
 * Descriptions of values that come from outside, such as a state from a stranger's file. A shape is
 * a function that returns a copy of what it was given, made of nothing but what it knows, or throws
 * `INVALID_STATE`. Objects have exactly the members that are described.
 */
import { SchedulerError } from "../errors.js";

/** Takes a value and where it is, such as `devices[1].batchRows`. */
export type Shape<T> = (value: unknown, at: string) => T;

/** One shape for each member. */
export type Fields<T> = { readonly [Name in keyof T]-?: Shape<T[Name]> };

export function invalid(at: string, value: unknown, expected: string): SchedulerError {
  const what = at === "" ? "the state" : at;
  return new SchedulerError(
    "INVALID_STATE",
    `This is no state that the run can be resumed from: ${what} is ${described(value)}, expected ${expected}.`,
  );
}

/** A whole number. */
export function count(min = 0): Shape<number> {
  return (value, at) => {
    if (Number.isSafeInteger(value) && (value as number) >= min) return value as number;
    throw invalid(at, value, `a whole number of at least ${min}`);
  };
}

/** A number, and none so large that what is worked out from a few of them is not finite. */
export function amount(min = 0): Shape<number> {
  return (value, at) => {
    if (typeof value === "number" && value >= min && value <= MOST) return value;
    throw invalid(at, value, `a number from ${min} to ${MOST}`);
  };
}

const MOST = 1e100;

export const flag: Shape<boolean> = oneOf(true, false);

export function oneOf<T extends string | boolean | number>(...values: readonly T[]): Shape<T> {
  return (value, at) => {
    const found = values.find((known) => known === value);
    if (found !== undefined) return found;
    throw invalid(at, value, values.map(described).join(" or "));
  };
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, at) => (value === null ? null : shape(value, at));
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw invalid(at, value, "a list");
    return value.map((item, i) => shape(item, `${at}[${i}]`));
  };
}

export function record<T extends object>(fields: Fields<T>): Shape<T> {
  const names = Object.keys(fields) as (keyof T & string)[];
  return (value, at) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw invalid(at, value, "an object");
    }
    const where = (name: string) => (at === "" ? name : `${at}.${name}`);
    for (const [name, member] of Object.entries(value)) {
      if (!Object.hasOwn(fields, name)) throw invalid(where(name.slice(0, 40)), member, "left out");
    }
    const own = new Map<string, unknown>(Object.entries(value));
    const members = names.map((name) => [name, fields[name](own.get(name), where(name))]);
    return Object.fromEntries(members) as T;
  };
}

/** Members that can only be as they are here: null, a flag, a number, or a list of nothing. */
export function fixed<T extends Readonly<Record<string, null | boolean | number | readonly []>>>(
  values: T,
): Fields<T> {
  const shapes = Object.entries(values).map(([name, known]) => {
    const shape: Shape<unknown> = (value, at) => {
      const same = Array.isArray(known)
        ? Array.isArray(value) && value.length === 0
        : value === known;
      if (same) return known;
      throw invalid(at, value, described(known));
    };
    return [name, shape];
  });
  return Object.fromEntries(shapes) as Fields<T>;
}

function described(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value === undefined) return "missing";
  const isPlain = value === null || typeof value === "number" || typeof value === "boolean";
  return isPlain ? String(value) : `an ${typeof value}`.replace("an f", "a f");
}
