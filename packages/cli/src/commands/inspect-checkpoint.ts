/** What `heterosgd inspect` shows of checkpoints. */
import { basename } from "node:path";
import { describeShape } from "@heterosgd/model";
import {
  openCheckpoint,
  type CheckpointDevice,
  type CheckpointRecord,
  type CheckpointSummary,
} from "@heterosgd/trainer";
import { counted, formatBytes, formatCount, formatSeconds, printable } from "../output/format.js";
import type { Output } from "../output/output.js";
import { metricLines, metricsDocument } from "../output/report.js";
import { left, pairLines, right, tableLines } from "../output/table.js";

export async function inspectCheckpoint(
  path: string,
  _config: unknown,
  output: Output,
): Promise<void> {
  const checkpoint = await openCheckpoint(path);
  const { record, bytes } = checkpoint;
  const { algorithm, shape, optimizer, seed, rows, trainRows, merges, models } = record;
  const pairs = [
    ["written by", printable(record.program) || "-"],
    ["network", describeShape(shape)],
    [
      "algorithm",
      `${printable(algorithm)}; ${optimizer?.name ?? "sgd"}, seed ${seed}${record.executor === null ? "" : "; simulated"}`,
    ],
    ["position", positionWords(record)],
    ["merges", `${formatCount(merges)}, ${counted(record.step, "update")} of all devices`],
    ["trained on", `${counted(rows, "row")}, of ${formatCount(trainRows)} an epoch`],
    ["devices", record.devices.map(deviceWords).join(", ")],
    ["models", models.map(({ name }) => name).join(", ")],
    ["size", `${formatBytes(bytes)}; all files are as they were written`],
  ] as const;
  for (const line of pairLines(pairs)) output.print(line);
  if (record.metrics === null) output.print("its model was not evaluated");
  else for (const line of metricLines(record.metrics)) output.print(line);
  output.document({
    kind: "checkpoint",
    ...checkpointDocument(checkpoint),
    model: checkpoint.modelFile,
    program: record.program,
    algorithm,
    shape,
    optimizer: optimizer?.name ?? "sgd",
    seed,
    trainRows,
    simulated: record.executor !== null,
    devices: record.devices.map(({ spec, isThere }) => ({ spec, isThere })),
    models,
  });
}

function positionWords({ rows, trainRows, seconds }: CheckpointRecord): string {
  const epoch = Math.floor(rows / trainRows);
  return `${counted(epoch, "epoch")} and ${counted(rows - epoch * trainRows, "row")}, after ${formatSeconds(seconds)}`;
}

function deviceWords({ spec, isThere }: CheckpointDevice): string {
  return `${printable(spec)}${isThere ? "" : " (not there)"}`;
}

/** A run's checkpoints as a table, the oldest first. */
export function checkpointLines(checkpoints: readonly CheckpointSummary[]): readonly string[] {
  if (checkpoints.length === 0) return [];
  const [cutoff] = checkpoints.flatMap(({ record }) => record.metrics?.cutoffs[0] ?? []);
  return tableLines(
    [left("checkpoint"), ...["rows", "merges", `P@${cutoff ?? 1}`, "size"].map(right)],
    checkpoints.map(({ path, record, bytes }) => [
      basename(path),
      formatCount(record.rows),
      formatCount(record.merges),
      record.metrics === null ? "-" : record.metrics.precision[0]!.toFixed(4),
      formatBytes(bytes),
    ]),
  );
}

/** What machines are told of a checkpoint of a list. */
export function checkpointDocument({ path, record, bytes }: CheckpointSummary): {
  readonly path: string;
  readonly step: number;
  readonly rows: number;
  readonly merges: number;
  readonly seconds: number;
  readonly metrics: Readonly<Record<string, number>> | null;
  readonly bytes: number;
} {
  const { step, rows, merges, seconds, metrics } = record;
  const shown = metrics === null ? null : metricsDocument(metrics);
  return { path, step, rows, merges, seconds, metrics: shown, bytes };
}
