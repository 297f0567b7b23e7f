/** What went wrong with a model file. The README lists what each code means. */
export type ModelErrorCode =
  | "MODEL_NOT_FOUND"
  | "MODEL_UNREADABLE"
  | "MODEL_FORMAT"
  | "MODEL_TRUNCATED"
  | "MODEL_SHAPE"
  | "MODEL_NOT_FINITE"
  | "MODEL_WRITE";

/**
 * An expected failure of this package. Its `code` is part of the interface, its message is for
 * people.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;

  constructor(code: ModelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
