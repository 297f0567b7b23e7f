import type { RunSeries } from "../series/run-series.js";
import { countWords } from "../words.js";
import { describeLines } from "./descriptions.js";
import { deviceFigures, marksOf } from "./device-figures.js";
import type { Figure, LinesChart } from "./figure.js";
import { linesTable } from "./tables.js";
import { targetsTable } from "./target-table.js";
import { simulatedWords, timeAxis } from "./time-axis.js";
import { contestantsOf } from "../series/contestants.js";

/**
 * All charts of one run for which it has data, in the order of `figureIds`. A run that has only begun has few,
 * perhaps none.
 */
export function runFigures(run: RunSeries): readonly Figure[] {
  return [
    ...accuracyFigure(run, "time"),
    ...targetsTable(contestantsOf([run]), []),
    ...accuracyFigure(run, "rows"),
    ...lossFigure(run),
    ...deviceFigures(run),
  ];
}

function accuracyFigure(run: RunSeries, by: "time" | "rows"): readonly Figure[] {
  const { evaluations } = run;
  if (evaluations.length === 0) return [];
  const isSimulated = run.simulated !== null;
  const time = timeAxis(run.seconds, isSimulated);
  const cutoffs = evaluations[0]!.cutoffs;
  const chart: LinesChart = {
    kind: "lines",
    x: by === "time" ? time.axis : { label: "training rows processed", zero: true, whole: true },
    y: { label: "P@k", zero: false },
    steps: null,
    marks: by === "time" ? marksOf(run, time) : [],
    lines: cutoffs.map((k, i) => ({
      label: `P@${k}`,
      look: i,
      points: evaluations.map(({ at, rows, precision }) => ({
        x: by === "time" ? time.of(at) : rows,
        y: precision[i] ?? 0,
      })),
    })),
  };
  const over = by === "time" ? "time" : "training rows processed, which no device’s speed changes";
  return [
    {
      id: by === "time" ? "time-to-accuracy" : "accuracy-by-rows",
      title: by === "time" ? "Accuracy over time" : "Accuracy by rows processed",
      caption: `P@k (labels among the best k, over k) on ${countWords(run.evaluationRows)} evaluation rows, by ${over}.${by === "time" ? simulatedWords(isSimulated) : ""}`,
      description: describeLines(chart),
      chart,
      table: linesTable(chart, "measure"),
    },
  ];
}

function lossFigure(run: RunSeries): readonly Figure[] {
  if (run.loss.length === 0) return [];
  const isSimulated = run.simulated !== null;
  const time = timeAxis(run.seconds, isSimulated);
  const chart: LinesChart = {
    kind: "lines",
    x: time.axis,
    y: { label: "training loss a row", zero: false },
    steps: null,
    marks: marksOf(run, time),
    lines: [
      {
        label: "training loss",
        look: 0,
        points: run.loss.map(({ at, value }) => ({ x: time.of(at), y: value })),
      },
    ],
  };
  return [
    {
      id: "loss",
      title: "Training loss",
      caption: `Mean loss of the rows trained on around each moment.${simulatedWords(isSimulated)}`,
      description: describeLines(chart),
      chart,
      table: linesTable(chart, "measure"),
    },
  ];
}
