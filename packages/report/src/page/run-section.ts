import { runFigures } from "../figures/run-figures.js";
import type { RunSeries } from "../series/run-series.js";
import { countWords, secondsWords } from "../words.js";
import type { ReportSection } from "./page.js";

/** What a page says of one run: facts in words, and all charts that it has data for. */
export function runSection(run: RunSeries): ReportSection {
  return { title: run.name, facts: runFacts(run), figures: runFigures(run) };
}

/** Facts that are known, each with its name. */
export function runFacts(run: RunSeries): ReportSection["facts"] {
  const { algorithm, seed, simulated, network, devices, seconds, reason } = run;
  const epochs = run.trainRows > 0 ? ` (${(run.rows / run.trainRows).toFixed(2)} epochs)` : "";
  const lost = devices.flatMap(({ name, lost: why }) => (why === null ? [] : [`${name}: ${why}`]));
  const facts: readonly (readonly [string, string])[] = [
    ["Algorithm", algorithm],
    ["Seed", seed === null ? "" : String(seed)],
    ["Network", network],
    ["Training rows", run.trainRows > 0 ? countWords(run.trainRows) : ""],
    ["Evaluation rows", run.evaluationRows > 0 ? countWords(run.evaluationRows) : ""],
    ["Devices", devicesWords(run)],
    [
      "Times",
      simulated === null
        ? ""
        : `simulated by the profile ${simulated.profile}, whose numbers ${simulated.measured ? "were measured" : "are assumptions"}`,
    ],
    ["Trained on", `${countWords(run.rows)} rows${epochs} in ${secondsWords(seconds)}`],
    ["Ended because", reason === null ? "not finished, or broken off" : endWords(reason)],
    ["Lost devices", lost.join("; ")],
  ];
  return facts.filter(([, value]) => value !== "");
}

const MOST_NAMED = 12;

function devicesWords({ devices }: RunSeries): string {
  const named = devices
    .slice(0, MOST_NAMED)
    .map(({ name, kernels }) => (kernels === "" ? name : `${name} on ${kernels}`));
  const more = devices.length - named.length;
  return [...named, ...(more > 0 ? [`${countWords(more)} more`] : [])].join(", ");
}

const ends: Readonly<Record<string, string>> = {
  epochs: "all epochs are done",
  steps: "all updates asked for are done",
  time: "its time was up",
  target: "its target was reached",
  patience: "it got no better",
  signal: "it was stopped by a signal",
  devices: "no device was left",
};

function endWords(reason: string): string {
  return Object.hasOwn(ends, reason) ? ends[reason]! : reason;
}
