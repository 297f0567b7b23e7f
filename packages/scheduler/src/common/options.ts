import { requireOption } from "../errors.js";

/** What an option holds where it is a plain value; null leaves it to its default. */
export type OptionValue = number | boolean | string | null;

/**
 * An option as data: enough for a command line to parse, check, describe and default it. What a
 * default of null stands for is worked out by the policy, and said in `help`.
 */
export type OptionInfo = NumberOption | SwitchOption | ChoiceOption;

export interface NumberOption {
  /** `count`: whole numbers only. */
  readonly kind: "count" | "number";
  readonly default: number | null;
  /** Least and greatest value, both allowed. */
  readonly min?: number;
  readonly max?: number;
  /** Bounds that are not allowed themselves. */
  readonly above?: number;
  readonly below?: number;
  /** Whether `Infinity` is allowed. */
  readonly endless?: true;
  readonly help: string;
}

export interface SwitchOption {
  readonly kind: "switch";
  readonly default: boolean | null;
  readonly help: string;
}

export interface ChoiceOption {
  readonly kind: "choice";
  readonly default: string | null;
  readonly choices: readonly string[];
  readonly help: string;
}

/** One description for each option. */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: OptionInfo };

/** The options with every default filled in; null only where the table's default is. */
export type SettingsOf<Options, Table> = {
  readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> | Automatic<Table, Name>;
};

type Automatic<Table, Name> = Name extends keyof Table
  ? Table[Name] extends { readonly default: null }
    ? null
    : never
  : never;

/**
 * Those of the options that the table describes, checked, with defaults.
 *
 * @throws {@link SchedulerError} `INVALID_OPTION` if one is of the wrong kind or out of its range.
 */
export function resolveOptions<
  Options extends object,
  const Table extends { readonly [Name in keyof Options]?: OptionInfo },
>(table: Table, given: Options): SettingsOf<Pick<Options, keyof Table & keyof Options>, Table> {
  const values = given as Readonly<Record<string, OptionValue | undefined>>;
  const settings: Record<string, OptionValue> = {};
  for (const [name, info] of Object.entries(table as Readonly<Record<string, OptionInfo>>)) {
    const value = values[name] ?? null;
    if (value !== null) checkOption(name, info, value);
    settings[name] = value ?? info.default;
  }
  return settings as ReturnType<typeof resolveOptions<Options, Table>>;
}

/** @throws {@link SchedulerError} `INVALID_OPTION` */
export function checkOption(name: string, info: OptionInfo, value: OptionValue): void {
  requireOption(isValid(info, value), name, value, expectedOf(info));
}

function isValid(info: OptionInfo, value: OptionValue): boolean {
  if (info.kind === "switch") return typeof value === "boolean";
  if (info.kind === "choice") return typeof value === "string" && info.choices.includes(value);
  if (typeof value !== "number") return false;
  if (value === Infinity) return info.endless === true;
  const { min = -Infinity, max = Infinity, above = -Infinity, below = Infinity } = info;
  const known = info.kind === "count" ? Number.isSafeInteger(value) : Number.isFinite(value);
  return known && value >= min && value <= max && value > above && value < below;
}

/** What a value must be, in words that follow "must be". */
function expectedOf(info: OptionInfo): string {
  if (info.kind === "switch") return "true or false";
  if (info.kind === "choice") return `one of ${info.choices.join(", ")}`;
  const { min, max, above, below } = info;
  const limits = [
    above === undefined ? "" : `above ${above}`,
    min === undefined ? "" : `at least ${min}`,
    below === undefined ? "" : `below ${below}`,
    max === undefined ? "" : `at most ${max}`,
  ].filter((limit) => limit !== "");
  const what = info.kind === "count" ? "a whole number" : "a number";
  return limits.length === 0 ? what : `${what}, ${limits.join(" and ")}`;
}

/** @throws {@link SchedulerError} `INVALID_OPTION` unless it is a whole number from 1 to `max`. */
export function requireCount(name: string, value: number, max = Number.MAX_SAFE_INTEGER): void {
  requireOption(
    (Number.isSafeInteger(value) || value === max) && value >= 1 && value <= max,
    name,
    value,
    max === Number.MAX_SAFE_INTEGER
      ? "a whole number, at least 1"
      : `a whole number from 1 to ${max}`,
  );
}
