import { allFinite } from "./finite.js";
import type { Earlier, Tally } from "./tally.js";

/** What a failed run had computed, carried by the error that ended it. */
export interface Salvage {
  /**
   * The global model as of the last merge; null before the first one since the run began or was resumed,
   * or if it is not finite.
   */
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
 * @param earlier - what a resumed run began with: until it merges, its model may not even be loaded.
 */
export function keepSalvage(
  error: unknown,
  parameters: Float32Array,
  tally: Tally,
  earlier: Pick<Earlier, "merges">,
): void {
  if (!(error instanceof Error)) return;
  const merged = tally.merges() > earlier.merges && allFinite(parameters);
  salvages.set(error, { parameters: merged ? parameters : null, rows: tally.rows() });
}
