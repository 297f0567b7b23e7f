import { SparseError } from "../src/errors.js";
import type { RowInput } from "../src/builder.js";
import type { Dataset } from "../src/types.js";

/** A data set's rows as plain arrays, for comparing. */
export function rowsOf(dataset: Dataset): RowInput[] {
  const { features, labels } = dataset;
  return Array.from({ length: dataset.rows }, (_, row) => {
    const start = features.offsets[row]!;
    const length = features.offsets[row + 1]! - start;
    return {
      features: Array.from({ length }, (_unused, i): [number, number] => [
        features.indices[start + i]!,
        features.values[start + i]!,
      ]),
      labels: [...labels.indices.subarray(labels.offsets[row], labels.offsets[row + 1])],
    };
  });
}

/** The `SparseError` that a call throws. */
export function errorOf(call: () => unknown): SparseError {
  try {
    call();
  } catch (error) {
    if (error instanceof SparseError) return error;
    throw error;
  }
  throw new Error("expected a SparseError, but nothing was thrown");
}

/** The `SparseError` that a promise is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<SparseError> {
  const result = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (result instanceof SparseError) return result;
  throw new Error(`expected a SparseError, received ${String(result)}`);
}

/** What a reader makes of a text: its result or its error, as plain data. */
export function outcomeOf(read: () => { readonly dataset: Dataset } & object): unknown {
  try {
    const { dataset, ...rest } = read();
    return { ...rest, bytes: [...new Uint8Array(dataset.buffer)] };
  } catch (error) {
    if (!(error instanceof SparseError)) throw error;
    return { code: error.code, message: error.message };
  }
}
