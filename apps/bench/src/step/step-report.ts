/** What `bench step` tells of its measurements. */
import Table from "cli-table3";
import { figure } from "../kernels/report.js";
import { median, pairedRatio, spreadOf, type Spread } from "../statistics.js";
import type { MemoryAnswer, StepsAnswer } from "./protocol.js";
import type { StepShape } from "./step-data.js";

export interface ContestantResult {
  readonly name: string;
  readonly threads: number;
  readonly bf16: boolean;
  /** Whether it is heterosgd. */
  readonly ours: boolean;
  /** What ran, as it named itself. */
  readonly runs: string;
  /** Bytes that its documentation says it needs, null where nothing does. */
  readonly documented: number | null;
  readonly memory: MemoryAnswer;
  /** Seconds of one step, one entry a round. */
  readonly steps: readonly Pick<StepsAnswer, "wall" | "cpu">[];
}

export interface SetResult {
  readonly name: string;
  readonly shape: StepShape;
  readonly results: readonly ContestantResult[];
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
  /** The highest rate of one core in GFLOP/s, one figure a round; empty where it is unknown. */
  readonly peaks: readonly number[];
}

/** What the measurements of one contestant come to. */
export interface Summary {
  /** By the clock. */
  readonly rowsPerSecond: Spread;
  /** Rows for each second of processor time, of all threads together. */
  readonly rowsPerCpuSecond: number;
  /** Of the peak of as many cores as it has threads; the output layer's products alone count. */
  readonly peakShare: number | null;
  /** Against PyTorch in float32 with as many threads: by the clock, and by processor time. */
  readonly timesTorch: number | null;
  readonly timesTorchCpu: number | null;
  /** Against PyTorch in bfloat16 with as many threads. */
  readonly timesTorchBf16: number | null;
  /** Against the same with one thread. */
  readonly timesOneThread: number | null;
  /** Bytes that the data, the model and the work have taken at most. */
  readonly memoryBytes: number;
  /** Those over the documented bytes. */
  readonly timesDocumented: number | null;
}

export function summarise(one: ContestantResult, { shape, results, peaks }: SetResult): Summary {
  const rates = (of: ContestantResult | undefined, clock: "wall" | "cpu") =>
    (of?.steps ?? []).map((step) => shape.rows / step[clock]);
  const times = (name: string, clock: "wall" | "cpu" = "wall") =>
    name === one.name
      ? null
      : pairedRatio(
          rates(one, clock),
          rates(
            results.find((other) => other.name === name),
            clock,
          ),
        );
  const suffix = one.threads === 1 ? "" : `-${one.threads}-threads`;
  const wall = spreadOf(rates(one, "wall"));
  const operations = 6 * shape.labels * shape.hidden * wall.median;
  const memoryBytes = one.memory.peak - one.memory.baseline;
  return {
    rowsPerSecond: wall,
    rowsPerCpuSecond: median(rates(one, "cpu")),
    peakShare: peaks.length === 0 ? null : operations / (1e9 * median(peaks) * one.threads),
    timesTorch: times(`torch${suffix}`),
    timesTorchCpu: times(`torch${suffix}`, "cpu"),
    timesTorchBf16: times(`torch-bf16${suffix}`),
    timesOneThread: suffix === "" ? null : times(one.name.slice(0, -suffix.length)),
    memoryBytes,
    timesDocumented: one.documented === null ? null : memoryBytes / one.documented,
  };
}

export function describeSet(set: SetResult): string {
  const { name, shape, results, missing, peaks } = set;
  const table = new Table({
    head: [
      "",
      "rows/s",
      "p10–p90",
      "rows/CPU-s",
      "of peak",
      "× torch",
      "by CPU",
      "× torch bf16",
      "× 1 thread",
      "memory, MB",
      "× documented",
    ],
    style: { head: [], border: [] },
    colAligns: ["left", ...Array.from({ length: 10 }, () => "right" as const)],
  });
  const optional = (value: number | null) => (value === null ? "" : figure(value));
  for (const one of results) {
    const of = summarise(one, set);
    const { median: rate, low, high } = of.rowsPerSecond;
    table.push([
      one.name,
      figure(rate),
      `${figure(low)}–${figure(high)}`,
      figure(of.rowsPerCpuSecond),
      of.peakShare === null ? "" : `${(100 * of.peakShare).toFixed(0)} %`,
      optional(of.timesTorch),
      optional(of.timesTorchCpu),
      optional(of.timesTorchBf16),
      optional(of.timesOneThread),
      figure(of.memoryBytes / 1e6),
      optional(of.timesDocumented),
    ]);
  }
  const { features, labels, hidden, rows, nonZeros } = shape;
  const grouped = (value: number) => value.toLocaleString("en-US");
  const runs = [...new Set(results.map((one) => one.runs))].join(", ");
  return [
    `${name}: ${grouped(features)} features, ${hidden} units, ${grouped(labels)} labels; batches of ${rows} rows with ${nonZeros} non-zeros`,
    table.toString(),
    `ran ${runs}` +
      (peaks.length === 0 ? "" : `; one core's peak ${figure(median(peaks))} GFLOP/s`),
    ...missing.map((one) => `not measured: ${one.name}: ${one.reason}`),
  ].join("\n");
}
