/**
 * A figure is plain data: what is drawn, its words, and the same as a table. How it looks is decided where it is
 * drawn.
 */

/** A figure of a report: a chart, or a table alone. */
export interface Figure {
  /** What the chart is called, such as `batch-size`; unique among those of a run. */
  readonly id: FigureId;
  readonly title: string;
  /** What is shown, and how to read it. */
  readonly caption: string;
  /** The chart in words, for those who do not see it. */
  readonly description: string;
  /** Null where the table is all there is. */
  readonly chart: Chart | null;
  /** The data. */
  readonly table: Table;
}

/** Names of all charts, in the order in which reports show them. */
export const figureIds = [
  "time-to-accuracy",
  "time-to-target",
  "accuracy-by-rows",
  "loss",
  "batch-size",
  "updates",
  "weights",
  "busy",
  "utilisation",
  "shares",
  "staleness",
] as const;

export type FigureId = (typeof figureIds)[number];

export type Chart = LinesChart | StripChart | BarsChart;

export interface Axis {
  /** With its unit, such as `time (s)`. */
  readonly label: string;
  /** Whether the axis begins at 0 at the latest. */
  readonly zero: boolean;
  /** Where the axis ends at the earliest. */
  readonly to?: number;
  /** Whether values are whole numbers, and ticks too. */
  readonly whole?: boolean;
  /** Whether values are shares from 0 to 1, shown in percent. */
  readonly percent?: boolean;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line, told from others by its look: a colour, a dash and a symbol. */
export interface ChartLine {
  readonly label: string;
  /** Counts from 0; the same thing has the same look in all charts of a report. */
  readonly look: number;
  readonly points: readonly Point[];
  /** The lowest and the highest around it. */
  readonly band?: readonly { readonly x: number; readonly low: number; readonly high: number }[];
  /** Single runs of which the line is the median. */
  readonly parts?: readonly (readonly Point[])[];
}

/** Values over time or rows. */
export interface LinesChart {
  readonly kind: "lines";
  readonly x: Axis;
  readonly y: Axis;
  /** Whether a value holds from its place on, or held until there; null: values are joined. */
  readonly steps: "after" | "before" | null;
  readonly lines: readonly ChartLine[];
  readonly marks: readonly ChartMark[];
}

/** Something that happened, at a place of the x axis. */
export interface ChartMark {
  readonly x: number;
  readonly text: string;
}

/** How busy each device was, a lane each: a full lane is full work. */
export interface StripChart {
  readonly kind: "strip";
  readonly x: Axis;
  readonly lanes: readonly {
    readonly label: string;
    readonly look: number;
    /** Where the lane begins and ends. */
    readonly from: number;
    readonly to: number;
    readonly bins: readonly {
      readonly from: number;
      readonly to: number;
      /** 0 to 1. */
      readonly share: number;
    }[];
  }[];
  readonly marks: readonly ChartMark[];
}

/** Parts of wholes, a bar each, beside one another. */
export interface BarsChart {
  readonly kind: "bars";
  readonly x: Axis;
  /** Names of the parts, in order. Their look is `part` where they are states, else that of the line `look`. */
  readonly parts: readonly { readonly label: string; readonly look: PartLook }[];
  readonly bars: readonly {
    readonly label: string;
    /** A value for each part. */
    readonly values: readonly number[];
  }[];
}

/** What a device does has looks of its own. */
export type PartLook = "training" | "merging" | "evaluating" | "waiting" | number;

export interface Table {
  readonly columns: readonly { readonly label: string; readonly numeric: boolean }[];
  readonly rows: readonly (readonly string[])[];
  /** What is not in the table; null if all is. */
  readonly note: string | null;
}
