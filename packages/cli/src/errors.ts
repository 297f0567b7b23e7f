import { optionsAsFlags } from "./config/option-flags.js";
import { printable } from "./output/format.js";
import type { CpuKernelsErrorCode } from "@heterosgd/cpu-kernels";
import type { GpuKernelsErrorCode } from "@heterosgd/gpu-kernels";
import type { MergeErrorCode } from "@heterosgd/merge";
import type { ModelErrorCode } from "@heterosgd/model";
import type { ReportErrorCode } from "@heterosgd/report";
import type { SchedulerErrorCode } from "@heterosgd/scheduler";
import type { SparseErrorCode } from "@heterosgd/sparse";
import type { TrainerErrorCode } from "@heterosgd/trainer";

/** What can go wrong in the command itself; the README has the table. */
export const cliErrorCodes = [
  "USAGE",
  "BAD_VALUE",
  "CONFLICT",
  "CONFIG_UNREADABLE",
  "CONFIG_FORMAT",
  "UNKNOWN_KEY",
  "PROFILE_UNREADABLE",
  "NOT_A_RUN",
  "RUN_NOT_ALIVE",
  "NO_ANSWER",
  "DEVICE_NOT_ADDED",
  "EMPTY_DATA",
  "LABEL_NAMES",
  "NOT_ENOUGH_MEMORY",
  "RUN_NOT_SAVED",
  "REPORT_EXISTS",
  "REPORT_NOT_WRITTEN",
  "SAMPLE_MISSING",
] as const;

export type CliErrorCode = (typeof cliErrorCodes)[number];

/** An expected failure of the command: a message of one line, and perhaps what to do about it. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  /** What to do, as a clause. */
  readonly hint: string | null;

  constructor(
    code: CliErrorCode,
    message: string,
    { hint = null, cause }: { readonly hint?: string | null; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}

/** What the command's exit says; the README has the table. */
export const exitCodes = {
  done: 0,
  failure: 1,
  usage: 2,
  data: 3,
  noDevice: 4,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const { failure, usage, data, noDevice } = exitCodes;

/** Exit codes of one package's errors: by code, and of all its others. */
type Exits<Code extends string> = { readonly others: ExitCode } & Partial<Record<Code, ExitCode>>;

// By name and not by class: errors that crossed from a worker have lost theirs.
const exits = {
  CliError: {
    others: usage,
    NOT_A_RUN: data,
    NO_ANSWER: failure,
    DEVICE_NOT_ADDED: noDevice,
    EMPTY_DATA: data,
    LABEL_NAMES: data,
    NOT_ENOUGH_MEMORY: failure,
    RUN_NOT_SAVED: failure,
    REPORT_NOT_WRITTEN: failure,
    SAMPLE_MISSING: failure,
  } satisfies Exits<CliErrorCode>,
  SparseError: {
    others: data,
    NOT_WRITABLE: failure,
    OUT_OF_MEMORY: failure,
  } satisfies Exits<SparseErrorCode>,
  ReportError: {
    others: data,
    UNKNOWN_CHART: usage,
    PNG_UNAVAILABLE: failure,
  } satisfies Exits<ReportErrorCode>,
  ModelError: { others: data, MODEL_WRITE: failure } satisfies Exits<ModelErrorCode>,
  SchedulerError: {
    others: failure,
    INVALID_OPTION: usage,
    INVALID_SETUP: usage,
  } satisfies Exits<SchedulerErrorCode>,
  MergeError: { others: failure, INVALID_OPTION: usage } satisfies Exits<MergeErrorCode>,
  CpuKernelsError: {
    others: failure,
    NATIVE_UNAVAILABLE: noDevice,
    WASM_UNAVAILABLE: noDevice,
    ISA_UNSUPPORTED: noDevice,
  } satisfies Exits<CpuKernelsErrorCode>,
  GpuKernelsError: {
    others: failure,
    GPU_UNAVAILABLE: noDevice,
    GPU_MEMORY: noDevice,
    GPU_LOST: noDevice,
    GPU_DRIVER: noDevice,
  } satisfies Exits<GpuKernelsErrorCode>,
  TrainerError: {
    others: failure,
    BAD_OPTION: usage,
    DEVICE_SPEC: usage,
    PROFILE: usage,
    RUN_EXISTS: usage,
    RUN_ACTIVE: usage,
    CHECKPOINT_MISMATCH: usage,
    CHECKPOINT_DAMAGED: data,
    CHECKPOINT_FORMAT: data,
    CHECKPOINT_UNREADABLE: data,
    NO_CHECKPOINT: data,
    DATA_MISMATCH: data,
    NOT_FINITE: data,
    KERNELS_UNAVAILABLE: noDevice,
    DEVICE_MEMORY: noDevice,
    DEVICE_FAILED: noDevice,
    DEVICE_EXITED: noDevice,
    DEVICE_TIMEOUT: noDevice,
    NO_DEVICES: noDevice,
  } satisfies Exits<TrainerErrorCode>,
};

/** The exit code for an error of any package. */
export function exitCodeOf(error: unknown): ExitCode {
  const { name, code } = named(error);
  const known: Exits<string> | undefined = (exits as Record<string, Exits<string>>)[name];
  return known?.[code ?? "others"] ?? known?.others ?? failure;
}

/** An error as people read it: one line, its code in brackets. */
export function describeError(error: unknown): string {
  const { code } = named(error);
  return `${messageOf(error)}${code === undefined ? "" : ` [${code}]`}`;
}

/** An error as `--json` prints it. */
export function errorDocument(error: unknown): unknown {
  const code = named(error).code ?? null;
  return { error: { code, message: messageOf(error), exitCode: exitCodeOf(error) } };
}

function messageOf(error: unknown): string {
  const { name, message } = named(error);
  const hint = error instanceof CliError && error.hint !== null ? `; ${error.hint}` : "";
  const line = message.trim().replaceAll(/\s*\n\s*/g, " ");
  const isOfOptions = name === "SchedulerError" || name === "MergeError";
  return printable((isOfOptions ? optionsAsFlags(line) : inFlags(line)) + hint);
}

// The packages name their options as programs write them.
const flagsForOptions = [
  ['onWider: "drop"', "--wider drop"],
  ['duplicates: "sum"', "--duplicates sum"],
  ["indexBase: 0", "--index-base 0"],
  ["header: false", "--format xc-rows"],
  ["by a LIBSVM reader", "with --format libsvm"],
  // What reading is bounded by.
  [/at most (\d+)( \w+)? are asked for/g, "the model has $1$2"],
] as const;

function inFlags(message: string): string {
  return flagsForOptions.reduce((text, [option, flag]) => text.replaceAll(option, flag), message);
}

/** For `--verbose`: stacks, those of causes too. */
export function describeStack(error: unknown): string {
  const lines: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    lines.push(`${lines.length > 0 ? "caused by " : ""}${at.stack ?? String(at)}`);
  }
  return lines.join("\n");
}

function named(error: unknown): { name: string; message: string; code: string | undefined } {
  if (!(error instanceof Error)) return { name: "", message: String(error), code: undefined };
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message === "" ? error.name : error.message,
    code: typeof code === "string" ? code : undefined,
  };
}
