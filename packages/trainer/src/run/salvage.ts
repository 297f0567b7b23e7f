import { allFinite } from "./finite.js";
import type { Tally } from "./tally.js";

/** What a failed run had computed, carried by the error that ended it. */
export interface Salvage {
  /** The global model as of the last merge; null before the first, or if it is not finite. */
  readonly parameters: Float32Array | null;
  readonly rows: number;
}

/** The salvage of each run that failed: `salvageOf(error)`. */
const salvages = new WeakMap<object, Salvage>();

/** What a run that ended in `error` had computed, undefined if it had not begun. */
export function salvageOf(error: unknown): Salvage | undefined {
  return typeof error === "object" && error !== null ? salvages.get(error) : undefined;
}

/**
 * Has the error that ends a run carry what it had computed.
 *
 * @param parameters - of the global model; not copied, so they must outlive the run.
 */
export function keepSalvage(error: unknown, parameters: Float32Array, tally: Tally): void {
  if (!(error instanceof Error)) return;
  const merged = tally.merges() > 0 && allFinite(parameters);
  salvages.set(error, { parameters: merged ? parameters : null, rows: tally.rows() });
}
