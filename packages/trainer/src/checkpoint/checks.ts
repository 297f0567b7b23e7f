/** Checks of what a stranger's file may hold: each takes a value apart, or says what was expected. */
import { TrainerError } from "../errors.js";

/**
 * Returns the value as what it is checked to be. @throws TrainerError CHECKPOINT_FORMAT
 *
 * @param at - what messages call the value, such as `devices[1].info`.
 */
export type Check<T> = (value: unknown, at: string) => T;

export function refuse(value: unknown, at: string, expected: string): TrainerError {
  return new TrainerError(
    "CHECKPOINT_FORMAT",
    `${at} is ${brief(value)}, expected ${expected}; it was not written by this version`,
  );
}

/** A received value as messages show it. */
function brief(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  return short(JSON.stringify(value) ?? "missing");
}

function that<T>(holds: (value: unknown) => boolean, expected: string): Check<T> {
  return (value, at) => {
    if (!holds(value)) throw refuse(value, at, expected);
    return value as T;
  };
}

/** A whole number from `least` to `most`, exact. */
export function count(least = 0, most = Number.MAX_SAFE_INTEGER): Check<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` and at most ${most}`;
  return that(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    `a whole number of at least ${least}${upTo}`,
  );
}

export const wholeNumber: Check<number> = that(Number.isSafeInteger, "a whole number");
export const finite: Check<number> = that(Number.isFinite, "a number");
export const boolean: Check<boolean> = that((value) => typeof value === "boolean", "true or false");

/** A number of at least 0. */
export const amount: Check<number> = that(
  (value) => Number.isFinite(value) && Number(value) >= 0,
  "a number of at least 0",
);

/** A text of at most so many characters. */
export function text(most: number): Check<string> {
  return that(
    (value) => typeof value === "string" && value.length <= most,
    `a text of at most ${most} characters`,
  );
}

/** A text of this form. */
export function matching<T extends string>(pattern: RegExp, expected: string): Check<T> {
  return that((value) => typeof value === "string" && pattern.test(value), expected);
}

/** A SHA-256. */
export const digest: Check<string> = matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits");

export function oneOf<const T extends readonly (string | number)[]>(
  ...values: T
): Check<T[number]> {
  return that((value) => values.includes(value as T[number]), values.join(" or "));
}

export function nullable<T>(check: Check<T>): Check<T | null> {
  return (value, at) => (value === null ? null : check(value, at));
}

/** A list of at most `most` such values. */
export function listOf<T>(check: Check<T>, most: number): Check<readonly T[]> {
  const expected = `a list of at most ${most}`;
  return (value, at) => {
    if (!Array.isArray(value) || value.length > most) throw refuse(value, at, expected);
    return value.map((element: unknown, i) => check(element, `${at}[${i}]`));
  };
}

type Members = Readonly<Record<string, Check<unknown>>>;
type Checked<C extends Members> = { readonly [K in keyof C]: ReturnType<C[K]> };

/**
 * An object of these members and no others; those of `optional` may be missing. Its copy has no others
 * either.
 */
export function members<const C extends Members, const O extends Members = Members>(
  needed: C,
  optional?: O,
): Check<Checked<C> & Partial<Checked<O>>> {
  return (value, at) => {
    const object = objectOf(value, at);
    const result: Record<string, unknown> = {};
    for (const name of Object.keys(object)) {
      if (Object.hasOwn(needed, name) || Object.hasOwn(optional ?? {}, name)) continue;
      throw refuse(object[name], `${at}.${short(name)}`, "no such member");
    }
    for (const [name, check] of Object.entries(needed)) {
      const own = Object.hasOwn(object, name) ? object[name] : undefined;
      result[name] = check(own, `${at}.${name}`);
    }
    for (const [name, check] of Object.entries(optional ?? {})) {
      if (Object.hasOwn(object, name)) result[name] = check(object[name], `${at}.${name}`);
    }
    return result as Checked<C> & Partial<Checked<O>>;
  };
}

/** An object of any names that `name` accepts, at most `most` of them. */
export function recordOf<T>(
  name: RegExp,
  check: Check<T>,
  most: number,
): Check<Readonly<Record<string, T>>> {
  return (value, at) => {
    const entries = Object.entries(objectOf(value, at));
    if (entries.length > most) throw refuse(value, at, `at most ${most} members`);
    return Object.fromEntries(
      entries.map(([key, each]) => {
        if (!name.test(key)) throw refuse(each, `${at}.${short(key)}`, "no such member");
        return [key, check(each, `${at}.${key}`)];
      }),
    );
  };
}

/** Anything that JSON holds: to be checked by whoever knows what it is. */
export const json: Check<unknown> = (value, at) => {
  if (value === undefined) throw refuse(value, at, "it to be there");
  return value;
};

function objectOf(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refuse(value, at, "an object");
  }
  return value as Readonly<Record<string, unknown>>;
}

function short(received: string): string {
  return received.length > 60 ? `${received.slice(0, 60)}…` : received;
}
