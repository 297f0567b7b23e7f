/** The tables: what was injected, what survived it, and how many rows that has cost. */
import { algorithmNames } from "./algorithm-runs.js";
import {
  deviceEnds,
  diskFaults,
  parts,
  phases,
  type Outcome,
  type Part,
  type Scenario,
} from "./scenario.js";
import { sum } from "../statistics.js";
import type { Cells } from "../suite/tables.js";

export interface Result {
  readonly scenario: Scenario;
  readonly outcome: Outcome;
}

export interface Counts {
  readonly injected: number;
  readonly survived: number;
  readonly lost: number;
  readonly doubled: number;
}

export function countsOf(results: readonly Result[]): Counts {
  const total = (key: keyof Counts) => sum(results.map(({ outcome }) => outcome[key]));
  return {
    injected: total("injected"),
    survived: total("survived"),
    lost: total("lost"),
    doubled: total("doubled"),
  };
}

const partWords: Readonly<Record<Part, string>> = {
  devices: "failing devices",
  kills: "kill -9",
  disks: "failing disks",
};

/** A line for each algorithm. */
export function algorithmTable(results: readonly Result[]): Cells {
  const shown = parts.filter((part) => results.some(({ scenario }) => scenario.part === part));
  const lineOf = (name: string, own: readonly Result[]) => {
    const { injected, survived, lost, doubled } = countsOf(own);
    const cells = shown.map((part) => {
      const counts = countsOf(own.filter(({ scenario }) => scenario.part === part));
      return `${counts.survived} of ${counts.injected}`;
    });
    const all = [...cells, String(injected), String(survived), String(lost), String(doubled)];
    return [name, ...all, repeatsWords(own)];
  };
  const rows = algorithmNames
    .map((name) => [name, results.filter(({ scenario }) => scenario.algorithm === name)] as const)
    .filter(([, own]) => own.length > 0)
    .map(([name, own]) => lineOf(name, own));
  return {
    head: [
      "algorithm",
      ...shown.map((part) => partWords[part]),
      "faults injected",
      "survived",
      "rows lost",
      "rows doubled",
      "same model to the last bit",
    ],
    rows: [...rows, lineOf("all", results)],
  };
}

function repeatsWords(results: readonly Result[]): string {
  const known = results.filter(({ outcome }) => outcome.repeats !== null);
  if (known.length === 0) return "–";
  return `${known.filter(({ outcome }) => outcome.repeats).length} of ${known.length}`;
}

const kindWords: Readonly<Record<string, string>> = {
  throw: "device: a call throws",
  "exit before": "device: its thread ends",
  "exit after": "device: its thread ends, the work done but not answered",
  hang: "device: no longer answers",
  nonsense: "device: answers with times that can't be",
  "wrong size": "device: answers with wrong sizes",
  NaN: "device: answers with a loss of NaN",
  loading: "killed while loading data",
  opening: "killed while opening devices",
  resuming: "killed while resuming",
  training: "killed while training",
  merging: "killed while merging",
  evaluating: "killed while evaluating",
  writing: "killed while writing a checkpoint",
  finishing: "killed while saving the result",
  anywhere: "killed anywhere, by the clock",
  full: "disk: full",
  "read-only": "disk: takes no more files",
};

/** A line for each kind of fault. */
export function kindTable(results: readonly Result[]): Cells {
  const kinds: readonly string[] = [...deviceEnds, ...phases, ...diskFaults];
  const rows = kinds.flatMap((kind) => {
    const own = results.filter(({ scenario }) => scenario.kind === kind);
    if (own.length === 0) return [];
    const { injected, survived, lost, doubled } = countsOf(own);
    const skipped = own.flatMap(({ outcome }) => outcome.skipped ?? []);
    if (injected === 0 && skipped.length > 0) {
      return [[`${kindWords[kind]}`, `skipped: ${skipped[0]}`, "–", "–", "–"]];
    }
    return [[kindWords[kind]!, ...[injected, survived, lost, doubled].map(String)]];
  });
  return { head: ["fault", "injected", "survived", "rows lost", "rows doubled"], rows };
}

/** What did not turn out as it should, in words. */
export function failureWords({ scenario, outcome }: Result): string | null {
  const { injected, survived, lost, doubled, repeats, struck, problems } = outcome;
  if (survived === injected) return null;
  const what = [
    ...(lost > 0 ? [`${lost} rows lost`] : []),
    ...(doubled > 0 ? [`${doubled} rows doubled`] : []),
    ...(repeats === false ? ["another model than without"] : []),
    ...problems,
  ];
  return `${scenarioWords(scenario)} (${struck || "did not strike"}): ${what.join("; ")}`;
}

/** What was to be injected, and was not, by reason. */
export function skippedWords(results: readonly Result[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { outcome } of results) {
    if (outcome.skipped === null) continue;
    counts.set(outcome.skipped, (counts.get(outcome.skipped) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => `${reason}: ${count}`);
}

export function scenarioWords({ kind, algorithm, devices, resumeOn, seed }: Scenario): string {
  const on = `${devices} ${devices === 1 ? "device" : "devices"}`;
  const then = resumeOn === undefined ? "" : `, then ${resumeOn}`;
  return `${algorithm} on ${on}${then}, seed ${seed}, ${kindWords[kind]}`;
}
