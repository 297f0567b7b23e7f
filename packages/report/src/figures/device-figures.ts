/** Charts of what each device of one run did. */
import type { DeviceSeries, RunSeries } from "../series/run-series.js";
import type { Sample } from "../series/thinned.js";
import { countWords, shareWords } from "../words.js";
import { describeBars, describeLines } from "./descriptions.js";
import type { BarsChart, Chart, ChartMark, Figure, LinesChart, StripChart } from "./figure.js";
import { barsTable, linesTable, stripTable } from "./tables.js";
import { simulatedWords, timeAxis, type TimeAxis } from "./time-axis.js";

/** More lines nobody tells apart. */
export const MOST_DRAWN = 12;

/** A device of a run with its look, which is the same in all charts. */
interface Drawn {
  readonly device: DeviceSeries;
  readonly look: number;
}

/** @returns those charts for which the run has data. */
export function deviceFigures(run: RunSeries): readonly Figure[] {
  const drawn = drawnDevices(run.devices);
  const time = timeAxis(run.seconds, run.simulated !== null);
  const words = (text: string) =>
    `${text}${fewerWords(drawn.length, run.devices.length)}${simulatedWords(run.simulated !== null)}`;
  const lines = (
    id: Figure["id"],
    title: string,
    caption: string,
    label: string,
    of: (device: DeviceSeries) => readonly Sample[],
    { whole = false, to }: { readonly whole?: boolean; readonly to?: number } = {},
  ): readonly Figure[] => {
    const chart: LinesChart = {
      kind: "lines",
      x: time.axis,
      y: { label, zero: true, whole, ...(to === undefined ? {} : { to }) },
      steps: id === "batch-size" ? "after" : "before",
      marks: marksOf(run, time),
      lines: drawn.flatMap(({ device, look }) => {
        const points = of(device).map(({ at, value }) => ({ x: time.of(at), y: value }));
        return points.length === 0 ? [] : [{ label: device.name, look, points }];
      }),
    };
    if (chart.lines.length === 0) return [];
    const description = describeLines(chart);
    const table = linesTable(chart, "device");
    return [{ id, title, caption: words(caption), description, chart, table }];
  };

  return [
    ...lines(
      "batch-size",
      "Batch size of each device",
      "Rows of a batch from each merge or round on: it follows the device’s speed where the algorithm adapts it.",
      "rows of a batch",
      ({ batchRows }) => batchRows,
      { whole: true },
    ),
    ...lines(
      "updates",
      "Updates of each device",
      "Updates that each device made between one merge or round and the next.",
      "updates in a round",
      ({ roundUpdates }) => roundUpdates,
      { whole: true },
    ),
    ...lines(
      "weights",
      "Merge weights",
      "The weight of each device’s work at each merge or round. They add up to 1 unless they are perturbed.",
      "merge weight",
      ({ weights }) => weights,
      { to: 1 },
    ),
    ...busyFigure(run, drawn, time, words),
    ...utilisationFigure(run, words),
    ...sharesFigure(run, words),
    ...lines(
      "staleness",
      "Staleness of updates",
      "How many updates of the model came between the parameters that a device’s gradients were computed at and those that they were added to, on average in a round.",
      "updates late",
      ({ staleness }) => staleness,
    ),
  ];
}

/** All devices, or where there are many of them some: the one with the most updates, the one with the fewest, and evenly between. */
function drawnDevices(devices: readonly DeviceSeries[]): readonly Drawn[] {
  const all = devices.map((device, look) => ({ device, look }));
  if (all.length <= MOST_DRAWN) return all;
  const ranked = all.toSorted((a, b) => b.device.updates - a.device.updates);
  return Array.from({ length: MOST_DRAWN }, (_, i) => ({
    device: ranked[Math.round((i * (ranked.length - 1)) / (MOST_DRAWN - 1))]!.device,
    look: i,
  }));
}

function fewerWords(drawn: number, all: number): string {
  return drawn === all
    ? ""
    : ` ${drawn} of the ${countWords(all)} devices are drawn, from that with the most updates to that with the fewest.`;
}

export function marksOf({ marks }: RunSeries, time: TimeAxis): readonly ChartMark[] {
  return marks.map(({ at, text }) => ({ x: time.of(at), text }));
}

function busyFigure(
  run: RunSeries,
  drawn: readonly Drawn[],
  time: TimeAxis,
  words: (text: string) => string,
): readonly Figure[] {
  const lanes = drawn.map(({ device, look }) => {
    const { width, shares } = device.busy;
    const bins = shares.map((share, i) => ({
      from: time.of(i * width),
      to: time.of(Math.min((i + 1) * width, device.to)),
      share,
    }));
    return {
      label: device.name,
      look,
      from: time.of(device.from),
      to: time.of(device.to),
      bins: bins.filter(({ from, to, share }) => share > 0 && to > from),
    };
  });
  if (lanes.every(({ bins }) => bins.length === 0)) return [];
  const chart: StripChart = { kind: "strip", x: time.axis, lanes, marks: marksOf(run, time) };
  const busy = drawn.map(({ device }) => {
    const there = device.to - device.from;
    const share = there > 0 ? Math.min(1, device.busySeconds / there) : 0;
    return `${device.name} trains ${shareWords(share)} of the time`;
  });
  return [
    {
      id: "busy",
      title: "When each device trains",
      caption: words(
        "A lane for each device, filled as high as the share of the time that it trains; gaps are merging, evaluating and waiting.",
      ),
      description: `Strip chart over ${time.axis.label}. ${busy.slice(0, 6).join("; ")}.`,
      chart,
      table: stripTable(chart, time.of(run.seconds)),
    },
  ];
}

/** What a device does with its time, in the order in which bars show it. */
export const usageParts = ["training", "merging", "evaluating", "waiting"] as const;

function utilisationFigure(run: RunSeries, words: (text: string) => string): readonly Figure[] {
  const known = run.devices.filter(({ usage }) => usage !== null);
  if (known.length === 0) return [];
  const since = run.usageSince > 0 ? ", since the run was last resumed" : "";
  const chart: BarsChart = {
    kind: "bars",
    x: { label: "share of the device’s time", zero: true, to: 1, percent: true },
    parts: usageParts.map((part) => ({ label: part, look: part })),
    bars: drawnDevices(known).map(({ device: { name, usage } }) => {
      const seconds = usageParts.map((part) => usage![part]);
      const all = seconds.reduce((sum, value) => sum + value, 0);
      return { label: name, values: seconds.map((value) => (all > 0 ? value / all : 0)) };
    }),
  };
  return [
    barsFigure(
      "utilisation",
      "What each device does with its time",
      words(`Time training, merging, evaluating and waiting, of all of a device’s time${since}.`),
      chart,
      "device",
    ),
  ];
}

function sharesFigure(run: RunSeries, words: (text: string) => string): readonly Figure[] {
  const sum = (of: (device: DeviceSeries) => number) =>
    run.devices.reduce((all, device) => all + of(device), 0);
  const [rows, updates] = [sum((it) => it.rows), sum((it) => it.updates)];
  if (rows === 0) return [];
  const drawn = drawnDevices(run.devices);
  const bar = (label: string, of: (device: DeviceSeries) => number, all: number) =>
    all > 0 ? [{ label, values: drawn.map(({ device }) => of(device) / all) }] : [];
  const chart: BarsChart = {
    kind: "bars",
    x: { label: "share of all devices’", zero: true, to: 1, percent: true },
    parts: drawn.map(({ device, look }) => ({ label: device.name, look })),
    bars: [
      ...bar("updates", (device) => device.updates, updates),
      ...bar("rows", (device) => device.rows, rows),
    ],
  };
  return [
    barsFigure(
      "shares",
      "Each device’s share of the work",
      words(
        `Of all ${countWords(updates)} updates that are in the model, and of all ${countWords(rows)} rows trained on.`,
      ),
      chart,
      "share of",
    ),
  ];
}

export function barsFigure(
  id: Figure["id"],
  title: string,
  caption: string,
  chart: BarsChart & Chart,
  of: string,
): Figure {
  return {
    id,
    title,
    caption,
    description: describeBars(chart),
    chart,
    table: barsTable(chart, of),
  };
}
