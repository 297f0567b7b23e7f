/** Reads members of events, which may be of anybody's file: what is not as it must be counts as not there. */

export type Members = Readonly<Record<string, unknown>>;

/** Longer names and reasons are cut: they come from a file. */
const LONGEST_TEXT = 300;

export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A finite number; else null. */
export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A finite number of at least 0; else 0. */
export function amountOf(value: unknown): number {
  return Math.max(0, numberOf(value) ?? 0);
}

export function textOf(value: unknown): string {
  if (typeof value !== "string") return "";
  return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
}

/** A list's finite numbers; 0 stands for others. */
export function numbersOf(value: unknown): readonly number[] {
  return listOf(value).map((it) => numberOf(it) ?? 0);
}
