import { join, resolve } from "node:path";
import { checkpointsFolder, type RunFolder, type TrainResult } from "@heterosgd/trainer";
import { commandWords, quoted, shortPath, workingFolder } from "../invocation.js";
import { formatCount, formatSeconds } from "../output/format.js";
import type { Line } from "../output/output.js";
import {
  deviceLines,
  evaluatedWords,
  metricLines,
  metricsDocument,
  profileWords,
  reasonWords,
} from "../output/report.js";
import { pairLines } from "../output/table.js";
import type { Plan } from "../plan.js";
import { packageVersion } from "../version.js";
import { resumeCommand, type SavedState } from "./train-saving.js";

/** How a run went, for people. */
export function runLines(
  folder: RunFolder,
  plan: Plan,
  result: TrainResult,
  saved: SavedState,
): readonly Line[] {
  const { metrics, devices, rows, seconds, reason } = result;
  const { evaluatedOn } = plan.data;
  const quality: readonly Line[] =
    metrics === null || evaluatedOn === null
      ? [{ text: "Nothing was evaluated: there was neither --test nor --validation." }]
      : [
          ...metricLines(metrics).map((text) => ({ text, style: "bold" }) as const),
          { text: evaluatedWords(evaluatedOn, metrics) },
        ];
  const { simulation } = plan;
  const trained =
    `${formatCount(rows)} rows in ${formatSeconds(seconds)}${simulation === null ? "" : " simulated"}, ` +
    `${formatCount(rows / seconds)} rows/s; ended because ${reasonWords(reason)}`;
  return [
    ...quality,
    { text: "" },
    ...deviceLines(devices).map((text) => ({ text })),
    ...(simulation === null
      ? []
      : [{ text: `All times are simulated, by ${profileWords(simulation.profile)}.` }]),
    { text: "" },
    ...pairLines([
      ["trained", trained],
      ["model", shortPath(folder.file("model"), workingFolder())],
      ["run", shortPath(folder.path, workingFolder())],
      ["next", nextCommand(folder, plan, result, saved)],
    ]).map((text) => ({ text })),
  ];
}

/** A command that goes on from here, to be copied. */
function nextCommand(
  folder: RunFolder,
  plan: Plan,
  result: TrainResult,
  saved: SavedState,
): string {
  if (result.reason === "signal" && saved.newest !== null) {
    return resumeCommand(folder.path, plan.simulation === null ? "train" : "simulate");
  }
  const model = quoted(shortPath(folder.file("model"), workingFolder()));
  const { config, data } = plan;
  const file = config.sample
    ? "--sample"
    : quoted(shortPath(resolve(data.testFile ?? config.train ?? ""), workingFolder()));
  return commandWords(["predict", model, file, "-k 5"]);
}

/** A finished run for machines: what `metrics.json` holds, and what `--json` prints. */
export function runDocument(
  folder: RunFolder,
  plan: Plan,
  result: TrainResult,
  { newest }: SavedState,
): unknown {
  const { metrics, devices, rows, seconds, reason } = result;
  return {
    run: folder.path,
    model: folder.file("model"),
    checkpoint: newest === null ? null : join(folder.path, checkpointsFolder, newest),
    reason,
    evaluatedOn: plan.data.evaluatedOn,
    metrics: metrics === null ? null : metricsDocument(metrics),
    rows,
    seconds,
    simulated:
      plan.simulation === null
        ? null
        : { profile: plan.simulation.profile.name, measured: plan.simulation.profile.measured },
    parameters: plan.parameters,
    devices,
    nativeUnavailable: plan.kernels.nativeUnavailable,
    versions: { heterosgd: packageVersion(), node: process.versions.node },
  };
}
