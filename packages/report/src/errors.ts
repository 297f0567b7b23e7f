/**
 * What can go wrong with a report:
 *
 * - `NO_DATA`: what was read holds no event of a run, or nothing that the charts asked for could show.
 * - `UNKNOWN_CHART`: there is no chart of that name.
 * - `PNG_UNAVAILABLE`: PNG images cannot be drawn here; the message says why, and what would mend it.
 */
export const reportErrorCodes = ["NO_DATA", "UNKNOWN_CHART", "PNG_UNAVAILABLE"] as const;

export type ReportErrorCode = (typeof reportErrorCodes)[number];

/** An expected failure; the message says what was expected, and what to do. */
export class ReportError extends Error {
  override readonly name = "ReportError";
  readonly code: ReportErrorCode;

  constructor(code: ReportErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
