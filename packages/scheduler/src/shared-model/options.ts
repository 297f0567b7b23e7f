/** An option of all algorithms on a shared model. */
export interface RoundRowsOption {
  /**
   * Rows between two reports; an evaluation every so many "merges" counts these. A quarter of an
   * epoch if left out, and at least a batch for each device.
   */
  readonly roundRows?: number;
}

/** It, as data. */
export const roundOption = {
  kind: "count",
  default: null,
  min: 1,
  help: "Rows between two reports, which evaluations count. Automatic: a quarter of an epoch.",
} as const;
