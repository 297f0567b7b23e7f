/** What went wrong: `INVALID_OPTION`, `NO_REPLICAS` or `MISSING_NORM`; the README has the table. */
export type MergeErrorCode = "INVALID_OPTION" | "NO_REPLICAS" | "MISSING_NORM";

/** The error that this package throws for input it can't merge. */
export class MergeError extends Error {
  override readonly name = "MergeError";
  readonly code: MergeErrorCode;

  constructor(code: MergeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
