/** The end of a run or evaluation, for people and for machines. */
import type { Metrics } from "@heterosgd/model";
import type { DeviceSummary, DeviceUsage, Profile } from "@heterosgd/trainer";
import { counted, formatCount, formatShare } from "./format.js";
import { left, right, tableLines } from "./table.js";

const metricNames = { precision: "P", ndcg: "nDCG", recall: "R" } as const;

type MetricKey = keyof typeof metricNames;

const metricKeys = Object.keys(metricNames) as MetricKey[];

/** A profile's name, and whether its numbers are to be believed. */
export function profileWords({ name, measured }: Pick<Profile, "name" | "measured">): string {
  return `the profile ${name} (${measured ? "measured" : "assumptions, not measurements"})`;
}

/** Metrics as `{"P@1": 0.61, …}`, and of how many rows. */
export function metricsDocument(metrics: Metrics): Readonly<Record<string, number>> {
  const { cutoffs, rows, rowsWithoutLabels } = metrics;
  const values = metricKeys.flatMap((key) =>
    cutoffs.map((k, i) => [`${metricNames[key]}@${k}`, metrics[key][i] ?? 0] as const),
  );
  return { ...Object.fromEntries(values), rows, rowsWithoutLabels };
}

/** Metrics as a table: a row a metric, a column a cut-off. */
export function metricLines(metrics: Metrics): readonly string[] {
  const { cutoffs } = metrics;
  return tableLines(
    cutoffs.flatMap(() => [left(""), right("")]),
    metricKeys.map((key) =>
      cutoffs.flatMap((k, i) => [
        `${metricNames[key]}@${k}`,
        `${(metrics[key][i] ?? 0).toFixed(4)} `,
      ]),
    ),
  );
}

/**
 * What was evaluated, such as `on the test set (1,234 rows, of which 12 without labels count as
 * 0)`.
 */
export function evaluatedWords(what: "test" | "validation", metrics: Metrics): string {
  const name = what === "test" ? "on the test set" : "on the held-out part of the training rows";
  const { rows, rowsWithoutLabels } = metrics;
  const without =
    rowsWithoutLabels === 0
      ? ""
      : `, of which ${formatCount(rowsWithoutLabels)} without labels ${rowsWithoutLabels === 1 ? "counts" : "count"} as 0`;
  return `${name} (${counted(rows, "row")}${without})`;
}

const usageColumns = [
  "training",
  "evaluating",
  "merging",
  "waiting",
] as const satisfies readonly (keyof DeviceUsage)[];

/**
 * What each device did, then how its time was split: two tables, each within 80 columns. Where
 * updates are not weighed, a third one between them says whose they were and how stale.
 */
export function deviceLines(devices: readonly DeviceSummary[]): readonly string[] {
  const all = devices.reduce((sum, { rows }) => sum + rows, 0);
  const isWeighed = devices.some(({ weight }) => weight !== null);
  const isStale = devices.some(({ staleness }) => (staleness ?? 0) > 0);
  return [
    ...tableLines(
      [
        left("device"),
        ...["rows", "share", "updates", "rows/s", "batch", "last weight"].map(right),
      ],
      devices.map((device) => [
        device.name,
        formatCount(device.rows),
        formatShare(all === 0 ? 0 : device.rows / all),
        formatCount(device.updates),
        formatCount(device.rowsPerSecond),
        device.batchRows === null ? "-" : formatCount(device.batchRows),
        device.weight === null ? "-" : device.weight.toFixed(3),
      ]),
    ),
    ...(isStale || (!isWeighed && all > 0) ? ["", ...updateLines(devices)] : []),
    "",
    ...tableLines(
      [left("device"), left("kernels"), ...usageColumns.map(right)],
      devices.map((device) => [device.name, device.kernels, ...usageCells(device)]),
    ),
  ];
}

/** Whose the updates were, and how many others came between reading the model and changing it. */
function updateLines(devices: readonly DeviceSummary[]): readonly string[] {
  const all = devices.reduce((sum, { updates }) => sum + updates, 0);
  return tableLines(
    [left("device"), right("of all updates"), right("staleness")],
    devices.map(({ name, updates, staleness }) => [
      name,
      formatShare(all === 0 ? 0 : updates / all),
      staleness === null ? "-" : staleness.toFixed(2),
    ]),
  );
}

function usageCells({ usage, lost }: DeviceSummary): readonly string[] {
  if (lost !== null) return ["lost"];
  if (usage === null) return [];
  const total = usageColumns.reduce((sum, key) => sum + usage[key], 0);
  return usageColumns.map((key) => formatShare(total === 0 ? 0 : usage[key] / total));
}

const reasons = {
  epochs: "all epochs are done",
  steps: "--max-steps is reached",
  time: "--max-time is over",
  target: "the target is reached",
  patience: "it got no better",
  signal: "a signal stopped it",
  devices: "no device was left",
} as const;

/** Why a run ended, in words. */
export function reasonWords(reason: keyof typeof reasons): string {
  return reasons[reason];
}
