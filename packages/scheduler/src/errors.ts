/**
 * What went wrong: `INVALID_OPTION`, `INVALID_SETUP`, `INVALID_STATE` or `UNEXPECTED_EVENT`; the
 * README has the table.
 */
export type SchedulerErrorCode =
  | "INVALID_OPTION"
  | "INVALID_SETUP"
  | "INVALID_STATE"
  | "UNEXPECTED_EVENT";

/** The error that this package throws for options, set-ups, states and events it can't work with. */
export class SchedulerError extends Error {
  override readonly name = "SchedulerError";
  readonly code: SchedulerErrorCode;

  constructor(code: SchedulerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Throws `INVALID_OPTION` unless `valid`. */
export function requireOption(
  valid: boolean,
  name: string,
  value: unknown,
  expected: string,
): asserts valid {
  if (valid) return;
  throw new SchedulerError(
    "INVALID_OPTION",
    `The option ${name} is ${String(value).slice(0, 40)}, but must be ${expected}.`,
  );
}
