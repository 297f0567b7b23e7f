/** Charts that hold contestants against each other. */
import {
  medianOf,
  type Contestant,
  type ContestantRun,
  type CurvePoint,
  type DeviceTotals,
} from "../series/contestants.js";
import { spreadOf } from "../series/spread.js";
import { describeLines } from "./descriptions.js";
import { barsFigure, MOST_DRAWN, usageParts } from "./device-figures.js";
import type { BarsChart, ChartLine, Figure, LinesChart, Point } from "./figure.js";
import { linesTable } from "./tables.js";
import { targetsTable, type Target } from "./target-table.js";
import { simulatedWords, timeAxis, type TimeAxis } from "./time-axis.js";

/** Points of a line, and of the band round it. */
const MOST_POINTS = 200;

export interface ComparisonOptions {
  /** P@1s whose times are told. Default: shares of what all contestants reach. */
  readonly targets?: readonly Target[];
}

/**
 * Charts of several contestants, each with the range of its seeds.
 *
 * @returns those for which there is data: none of runs that were never evaluated and did nothing.
 */
export function comparisonFigures(
  contestants: readonly Contestant[],
  { targets = [] }: ComparisonOptions = {},
): readonly Figure[] {
  const drawn = contestants.slice(0, MOST_DRAWN);
  return [
    ...curveFigure("time-to-accuracy", drawn),
    ...targetsTable(contestants, targets),
    ...curveFigure("accuracy-by-rows", drawn),
    ...curveFigure("loss", drawn),
    ...utilisationFigure(drawn),
    ...sharesFigure(drawn),
    ...stalenessFigure(drawn),
  ];
}

/** What a figure shows of an evaluation, and over what. */
interface Course {
  readonly title: string;
  readonly caption: string;
  readonly y: string;
  readonly byRows: boolean;
  readonly value: (point: CurvePoint) => number | null;
}

const courses = {
  "time-to-accuracy": {
    title: "Accuracy over time",
    caption: "P@1 on the evaluation rows over time.",
    y: "P@1",
    byRows: false,
    value: ({ precision }) => precision,
  },
  "accuracy-by-rows": {
    title: "Accuracy by rows processed",
    caption: "P@1 by training rows processed, which no device’s speed changes.",
    y: "P@1",
    byRows: true,
    value: ({ precision }) => precision,
  },
  loss: {
    title: "Training loss over time",
    caption: "Mean training loss a row since the evaluation before.",
    y: "training loss a row",
    byRows: false,
    value: ({ loss }) => loss,
  },
} as const satisfies Readonly<Record<string, Course>>;

function curveFigure(
  id: keyof typeof courses,
  contestants: readonly Contestant[],
): readonly Figure[] {
  const course: Course = courses[id];
  const isSimulated = contestants.some((it) => it.isSimulated);
  const longest = Math.max(
    0,
    ...contestants.flatMap(({ runs }) => runs.map(({ seconds }) => seconds)),
  );
  const time = timeAxis(longest, isSimulated);
  const lines = contestants.flatMap((contestant, look) => lineOf(contestant, look, course, time));
  if (lines.length === 0) return [];
  const chart: LinesChart = {
    kind: "lines",
    x: course.byRows ? { label: "training rows processed", zero: true, whole: true } : time.axis,
    y: { label: course.y, zero: false },
    steps: null,
    marks: [],
    lines,
  };
  const spread = lines.some(({ band }) => band !== undefined)
    ? " Lines are medians over the seeds, bands reach from the lowest to the highest, thin lines are the runs; a run that has ended keeps its last value."
    : "";
  return [
    {
      id,
      title: course.title,
      caption: `${course.caption}${spread}${course.byRows ? "" : simulatedWords(isSimulated)}`,
      description: describeLines(chart),
      chart,
      table: linesTable(chart, "run"),
    },
  ];
}

function lineOf(
  { name, runs }: Contestant,
  look: number,
  { byRows, value }: Course,
  time: TimeAxis,
): readonly ChartLine[] {
  const curves = runs
    .map(({ curve }) =>
      curve.flatMap((point): readonly Point[] => {
        const y = value(point);
        return y === null ? [] : [{ x: byRows ? point.rows : time.of(point.at), y }];
      }),
    )
    .filter((curve) => curve.length > 0);
  if (curves.length === 0) return [];
  if (curves.length === 1) return [{ label: name, look, points: curves[0]! }];
  const spread = spreadOf(curves, MOST_POINTS);
  return [
    {
      label: name,
      look,
      points: spread.map(({ x, median }) => ({ x, y: median })),
      band: spread.map(({ x, low, high }) => ({ x, low, high })),
      parts: curves,
    },
  ];
}

/** One value for each device of a contestant: the median over its runs. */
function devicesOf(
  { runs }: Contestant,
  of: (device: DeviceTotals, run: ContestantRun) => number | null,
): readonly { readonly name: string; readonly value: number }[] {
  const devices = runs.find((run) => run.devices.length > 0)?.devices ?? [];
  return devices.flatMap(({ name }, i) => {
    const values = runs.flatMap((run) => {
      const device = run.devices[i];
      return device === undefined ? [] : (of(device, run) ?? []);
    });
    return values.length === 0 ? [] : [{ name, value: medianOf(values) }];
  });
}

const all = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

function utilisationFigure(contestants: readonly Contestant[]): readonly Figure[] {
  const bars = contestants.flatMap((contestant) => {
    const parts = usageParts.map((part) =>
      devicesOf(contestant, ({ usage }) => {
        const seconds = usage === null ? 0 : all(Object.values(usage));
        return usage === null || seconds === 0 ? null : usage[part] / seconds;
      }),
    );
    return parts[0]!.slice(0, MOST_DRAWN).map(({ name }, i) => {
      const values = parts.map((part) => part[i]!.value);
      const sum = all(values);
      // Medians need not add up to 1.
      return {
        label: labelOf(contestants, contestant, name),
        values: values.map((value) => (sum > 0 ? value / sum : 0)),
      };
    });
  });
  if (bars.length === 0) return [];
  const chart: BarsChart = {
    kind: "bars",
    x: { label: "share of the device’s time", zero: true, to: 1, percent: true },
    parts: usageParts.map((part) => ({ label: part, look: part })),
    bars,
  };
  return [
    barsFigure(
      "utilisation",
      "What devices do with their time",
      `Time training, merging, evaluating and waiting, of all of a device’s time.${medianWords(contestants)}`,
      chart,
      "device",
    ),
  ];
}

function sharesFigure(contestants: readonly Contestant[]): readonly Figure[] {
  const shares = contestants.map((contestant) => ({
    name: contestant.name,
    devices: devicesOf(contestant, ({ updates }, run) => {
      const sum = all(run.devices.map((device) => device.updates));
      return sum > 0 ? updates / sum : null;
    }).slice(0, MOST_DRAWN),
  }));
  const known = shares.filter(({ devices }) => devices.length > 0);
  if (known.length === 0) return [];
  const most = known.reduce((a, b) => (b.devices.length > a.devices.length ? b : a));
  const chart: BarsChart = {
    kind: "bars",
    x: { label: "share of all devices’ updates", zero: true, to: 1, percent: true },
    parts: most.devices.map(({ name }, look) => ({ label: name, look })),
    bars: known.map(({ name, devices }) => ({
      label: name,
      values: most.devices.map((_, i) => devices[i]?.value ?? 0),
    })),
  };
  return [
    barsFigure(
      "shares",
      "Each device’s share of the updates",
      `Of all updates that are in the model, by device in the order of the list of devices.${medianWords(contestants)}`,
      chart,
      "run",
    ),
  ];
}

function stalenessFigure(contestants: readonly Contestant[]): readonly Figure[] {
  const bars = contestants.flatMap((contestant) =>
    devicesOf(contestant, ({ staleness }) => staleness)
      .slice(0, MOST_DRAWN)
      .map(({ name, value }) => ({
        label: labelOf(contestants, contestant, name),
        values: [value],
      })),
  );
  if (bars.length === 0) return [];
  const chart: BarsChart = {
    kind: "bars",
    x: { label: "updates late, mean", zero: true },
    parts: [{ label: "staleness", look: 0 }],
    bars,
  };
  return [
    barsFigure(
      "staleness",
      "Staleness of updates",
      `How many updates of the model came between the parameters that a gradient was computed at and those that it was added to, on average. Who is missing has no such number.${medianWords(contestants)}`,
      chart,
      "device",
    ),
  ];
}

function labelOf(contestants: readonly Contestant[], { name }: Contestant, device: string): string {
  return contestants.length === 1 ? device : `${name}: ${device}`;
}

function medianWords(contestants: readonly Contestant[]): string {
  return contestants.some(({ runs }) => runs.length > 1) ? " Medians over the seeds." : "";
}
