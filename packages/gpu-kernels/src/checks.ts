/** Checks of arguments, and the errors about them. */
import { GpuKernelsError, type GpuKernelsErrorCode } from "./errors.js";

export function fail(code: GpuKernelsErrorCode, operation: string, message: string): never {
  throw new GpuKernelsError(code, `${operation}: ${message}`);
}

/** A whole number of at least `least`. */
export function whole(
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

/** A number that is finite in float32. */
export function finite(operation: string, name: string, value: number): number {
  if (typeof value === "number" && Number.isFinite(Math.fround(value))) return value;
  fail(
    "KERNEL_ARGUMENT",
    operation,
    `${name} is ${String(value)}, expected a number that is finite in float32`,
  );
}

/** An array in ordinary memory of at least `least` elements. */
export function hostArray<T extends Float32Array | Uint32Array>(
  operation: string,
  name: string,
  array: T,
  type: new (length: number) => T,
  least: number,
): void {
  if (!(array instanceof type)) {
    fail("KERNEL_ARRAY", operation, `${name} is ${nameOf(array)}, expected a ${type.name}`);
  }
  if (array.length < least) {
    fail(
      "KERNEL_ARRAY",
      operation,
      `${name} has ${array.length} elements, expected at least ${least}`,
    );
  }
}

export function nameOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null;
  return prototype?.constructor?.name ?? "an object";
}

/** An object, or a list. */
export function requireObject(operation: string, name: string, value: unknown): void {
  if (typeof value === "object" && value !== null) return;
  fail("KERNEL_ARGUMENT", operation, `${name} is ${String(value)}, expected an object`);
}

/** Options that exist. */
export function checkOptions(operation: string, options: object, names: readonly string[]): void {
  requireObject(operation, "options", options);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const message = `there is no option ${unknown}, expected some of ${names.join(", ")}`;
  fail("KERNEL_ARGUMENT", operation, message);
}

/** What a name stands for in the kernels. */
export function numberOf<K extends string>(
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
