import {
  allocateFor,
  type ReadOptions,
  type ReadResult,
  type TextFormat,
} from "../read-options.js";
import { toDataset } from "./growing-rows.js";
import type { Scanner } from "./scanner.js";

/** What a reader returns when its scanner is done. */
export function resultOf(
  format: TextFormat,
  scanner: Scanner,
  options: ReadOptions,
  shape: {
    readonly features: number;
    readonly labels: number;
    readonly labelNames: readonly string[] | null;
  },
): ReadResult {
  const { rows, blankLines, droppedFeatures, droppedLabels, queryIds } = scanner;
  const { rowsWithoutFeatures, rowsWithoutLabels } = rows;
  const notices: string[] = [];
  if (queryIds > 0) notices.push(`${queryIds} qid: entries were skipped.`);
  return {
    format,
    dataset: toDataset(rows, shape.features, shape.labels, allocateFor(options)),
    labelNames: shape.labelNames,
    stats: { rowsWithoutFeatures, rowsWithoutLabels, blankLines, droppedFeatures, droppedLabels },
    notices,
  };
}
