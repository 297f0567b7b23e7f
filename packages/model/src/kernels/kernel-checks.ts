/** Checks of what kernels are called with, which are the same whatever technology stands behind them. */
import type { Batch, DeviceArray, GradientTarget } from "./contract.js";

/** What can be wrong: an array's type or length, a batch, or any other argument. */
export type KernelFault = "KERNEL_ARRAY" | "KERNEL_BATCH" | "KERNEL_ARGUMENT";

/** Throws the technology's own error. */
export type KernelFailure = (code: KernelFault, operation: string, message: string) => never;

/** A rule's numbers: rate (Adam's divided by 1 − β₁^step), ε, β₁, 1 − β₁, β₂, 1 − β₂, 1 / (1 − β₂^step). */
export type RuleNumbers = readonly [
  rate: number,
  epsilon: number,
  beta1: number,
  rest1: number,
  beta2: number,
  rest2: number,
  correction: number,
];

/** Each throws what its `fail` throws, with the operation and the argument's name. */
export interface KernelChecks {
  /** A whole number of at least `least`, at most `most`. */
  readonly whole: (
    operation: string,
    name: string,
    value: number,
    least: number,
    most?: number,
  ) => number;
  /** A number that is finite in float32. */
  readonly finite: (operation: string, name: string, value: number) => number;
  /** An array in ordinary memory of at least `least` elements. */
  readonly hostArray: <T extends Float32Array | Uint32Array>(
    operation: string,
    name: string,
    array: T,
    type: new (length: number) => T,
    least: number,
  ) => void;
  /** An object, or a list. */
  readonly requireObject: (operation: string, name: string, value: unknown) => void;
  /** Options that exist. */
  readonly checkOptions: (operation: string, options: object, names: readonly string[]) => void;
  /** What a name stands for in the kernels. */
  readonly numberOf: <K extends string>(
    operation: string,
    name: string,
    numbers: Readonly<Record<K, number>>,
    value: K,
  ) => number;
  /** How many entries of `gradient.state` its rule needs, which are there. */
  readonly stateEntries: (operation: string, gradient: RuleGradient) => number;
  readonly ruleNumbers: (operation: string, gradient: RuleGradient) => RuleNumbers;
  /** That a batch's members are arrays as long as its rows need; returns how many those are, `most` at most. */
  readonly batchArrays: (batch: Batch, most: number) => number;
  /** That offsets of so many rows ascend from 0 and end within what they cover; returns where they end. */
  readonly batchOffsets: (
    name: string,
    offsets: Uint32Array,
    rows: number,
    available: number,
    covered: string,
  ) => number;
  /** That each row's entries ascend strictly; returns one more than the largest, 0 if there is none. */
  readonly batchEntries: (
    name: string,
    entries: Uint32Array,
    offsets: Uint32Array,
    rows: number,
  ) => number;
}

type RuleGradient = Extract<GradientTarget<DeviceArray>, { readonly kind: "rule" }>;

export function createKernelChecks(fail: KernelFailure): KernelChecks {
  function whole(
    operation: string,
    name: string,
    value: number,
    least: number,
    most = Number.MAX_SAFE_INTEGER,
  ): number {
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
    const range =
      most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    fail(
      "KERNEL_ARGUMENT",
      operation,
      `${name} is ${String(value)}, expected a whole number ${range}`,
    );
  }

  function finite(operation: string, name: string, value: number): number {
    if (typeof value === "number" && Number.isFinite(Math.fround(value))) return value;
    fail(
      "KERNEL_ARGUMENT",
      operation,
      `${name} is ${String(value)}, expected a number that is finite in float32`,
    );
  }

  function hostArray<T extends Float32Array | Uint32Array>(
    operation: string,
    name: string,
    array: T,
    type: new (length: number) => T,
    least: number,
  ): void {
    if (!(array instanceof type)) {
      fail("KERNEL_ARRAY", operation, `${name} is ${kindOf(array)}, expected a ${type.name}`);
    }
    if (array.length < least) {
      fail(
        "KERNEL_ARRAY",
        operation,
        `${name} has ${array.length} elements, expected at least ${least}`,
      );
    }
  }

  function requireObject(operation: string, name: string, value: unknown): void {
    if (typeof value === "object" && value !== null) return;
    fail("KERNEL_ARGUMENT", operation, `${name} is ${String(value)}, expected an object`);
  }

  function numberOf<K extends string>(
    operation: string,
    name: string,
    numbers: Readonly<Record<K, number>>,
    value: K,
  ): number {
    const number = Object.hasOwn(numbers, value) ? numbers[value] : undefined;
    if (number !== undefined) return number;
    const expected = Object.keys(numbers).join(", ");
    fail("KERNEL_ARGUMENT", operation, `${name} is ${value}, expected one of ${expected}`);
  }

  return {
    whole,
    finite,
    hostArray,
    requireObject,
    numberOf,

    checkOptions(operation, options, names) {
      requireObject(operation, "options", options);
      const unknown = Object.keys(options).find((name) => !names.includes(name));
      if (unknown === undefined) return;
      const message = `there is no option ${unknown}, expected some of ${names.join(", ")}`;
      fail("KERNEL_ARGUMENT", operation, message);
    },

    stateEntries(operation, { rule, state }) {
      const needed = rule.name === "adam" ? 2 : 1;
      if (state.length >= needed) return needed;
      fail(
        "KERNEL_ARGUMENT",
        operation,
        `gradient.state has ${state.length} entries, ${rule.name} needs ${needed}`,
      );
    },

    ruleNumbers(operation, gradient) {
      const { rule } = gradient;
      const rate = finite(operation, "gradient.learningRate", gradient.learningRate);
      const epsilon = finite(operation, "gradient.rule.epsilon", rule.epsilon);
      if (!(Math.fround(epsilon) > 0)) {
        const expected = "expected it to be above 0 in float32";
        fail("KERNEL_ARGUMENT", operation, `gradient.rule.epsilon is ${epsilon}, ${expected}`);
      }
      if (rule.name === "adagrad") return [rate, epsilon, 0, 0, 0, 0, 0];
      const { beta1, beta2 } = rule;
      const step = whole(operation, "gradient.step", gradient.step, 1);
      if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1)) {
        fail(
          "KERNEL_ARGUMENT",
          operation,
          `gradient.rule has beta1 ${beta1} and beta2 ${beta2}, expected both from 0 to below 1`,
        );
      }
      const own = rate / (1 - beta1 ** step);
      return [own, epsilon, beta1, 1 - beta1, beta2, 1 - beta2, 1 / (1 - beta2 ** step)];
    },

    batchArrays(batch, most) {
      requireObject("upload", "batch", batch);
      const rows = whole("upload", "rows", batch.rows, 1, most);
      hostArray("upload", "offsets", batch.offsets, Uint32Array, rows + 1);
      hostArray("upload", "indices", batch.indices, Uint32Array, 0);
      hostArray("upload", "values", batch.values, Float32Array, 0);
      hostArray("upload", "labelOffsets", batch.labelOffsets, Uint32Array, rows + 1);
      hostArray("upload", "labels", batch.labels, Uint32Array, 0);
      return rows;
    },

    batchOffsets(name, offsets, rows, available, covered) {
      if (offsets[0] !== 0) {
        fail("KERNEL_BATCH", "upload", `${name} start at ${offsets[0]}, expected 0`);
      }
      for (let row = 0; row < rows; row++) {
        if (offsets[row + 1]! >= offsets[row]!) continue;
        const fall = `fall from ${offsets[row]} to ${offsets[row + 1]} at row ${row}`;
        fail("KERNEL_BATCH", "upload", `${name} ${fall}, expected them to ascend`);
      }
      const end = offsets[rows]!;
      if (end > available) {
        const beyond = `beyond the ${available} elements of ${covered}`;
        fail("KERNEL_BATCH", "upload", `${name} end at ${end}, ${beyond}`);
      }
      return end;
    },

    batchEntries(name, entries, offsets, rows) {
      let bound = 0;
      for (let row = 0; row < rows; row++) {
        const end = offsets[row + 1]!;
        let before = -1;
        for (let i = offsets[row]!; i < end; i++) {
          const entry = entries[i]!;
          if (entry <= before) {
            fail(
              "KERNEL_BATCH",
              "upload",
              `${name} of row ${row} are not strictly ascending: ${before} comes before ${entry}`,
            );
          }
          before = entry;
        }
        if (before >= bound) bound = before + 1;
      }
      return bound;
    },
  };
}

/** What a value is, for messages: its class, or itself. */
export function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null;
  return prototype?.constructor?.name ?? "an object";
}
