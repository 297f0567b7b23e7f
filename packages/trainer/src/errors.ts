/** What can go wrong in a run; part of the API. */
export type TrainerErrorCode =
  | "BAD_OPTION"
  | "DEVICE_SPEC"
  | "KERNELS_UNAVAILABLE"
  | "DEVICE_MEMORY"
  | "DEVICE_FAILED"
  | "DEVICE_EXITED"
  | "DEVICE_TIMEOUT"
  | "NO_DEVICES"
  | "DIVERGED"
  | "NOT_FINITE"
  | "DATA_MISMATCH"
  | "RUN_EXISTS"
  | "RUN_FOLDER"
  | "RUN_ACTIVE"
  | "REPLAY_MISMATCH"
  | "PROFILE"
  | "CHECKPOINT_WRITE"
  | "CHECKPOINT_UNREADABLE"
  | "CHECKPOINT_DAMAGED"
  | "CHECKPOINT_FORMAT"
  | "CHECKPOINT_MISMATCH"
  | "NO_CHECKPOINT"
  | "RUN_OVER";

/** An expected failure of a run, with a code to act on and a message for a person. */
export class TrainerError extends Error {
  readonly code: TrainerErrorCode;

  constructor(code: TrainerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TrainerError";
    this.code = code;
  }
}
