/** What `bench gpu` tells of its findings, part by part. */
import Table from "cli-table3";
import { figure } from "../kernels/report.js";
import { median, pairedRatio, spreadOf } from "../statistics.js";
import type { SetResult } from "../step/step-report.js";
import type { Conformance } from "./conformance.js";
import { deviceWords, type BenchDevice } from "./devices.js";
import type { KernelTimes, OperationTimes } from "./kernel-times.js";
import type { MixedResult } from "./mixed.js";
import type { SoakResult } from "./soak.js";
import { summariseSteps } from "./steps.js";

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    colAligns: head.map((_, i) => (i === 0 ? "left" : "right")),
  });
  for (const row of rows) table.push([...row]);
  return table.toString();
}

const small = (value: number) => (value < 0.1 ? value.toPrecision(2) : figure(value));
const optional = (value: number | null) => (value === null ? "" : small(value));
const percent = (share: number | null) => (share === null ? "" : `${(100 * share).toFixed(0)} %`);
const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

export function describeConformance(
  device: BenchDevice,
  { cases, failures, seconds }: Conformance,
): string {
  const passed = cases - failures.length;
  const lines = failures.map(({ name, message }) => `  fails: ${name}: ${message}`);
  const head = `conformance of ${deviceWords(device)}: ${passed} of ${cases} cases pass, ${seconds.toFixed(1)} s`;
  return [head, ...lines].join("\n");
}

export function describeSteps(set: SetResult, devices: readonly BenchDevice[]): string {
  const { shape, results, missing } = set;
  const rows = results.map((one) => {
    const of = summariseSteps(one, set, devices);
    const { median: middle, low, high } = of.milliseconds;
    const device = devices.find(({ label }) => label === one.name);
    return [
      device === undefined ? `${one.name} (${one.runs})` : deviceWords(device),
      figure(middle),
      `${figure(low)}–${figure(high)}`,
      figure(of.rowsPerSecond),
      figure(of.gigaflops),
      percent(of.peakShare),
      optional(of.timesTorch),
      optional(of.timesNative),
    ];
  });
  const size = `${shape.labels.toLocaleString("en-US")} labels, batches of ${shape.rows} rows with ${shape.nonZeros} non-zeros, ${shape.hidden} hidden units`;
  return [
    `a training step: ${size}`,
    tableOf(
      ["", "ms", "p10–p90", "rows/s", "GFLOP/s", "of peak", "× torch", "× native, 1 thread"],
      rows,
    ),
    ...missing.map(({ name, reason }) => `not measured: ${name}: ${reason}`),
  ].join("\n");
}

/** What is told of one operation. */
export interface OperationSummary {
  readonly milliseconds: { readonly median: number; readonly low: number; readonly high: number };
  readonly gigaflops: number;
  readonly gigabytes: number;
  /** Of the peak that is nearer; null where peaks are unknown. */
  readonly peakShare: number | null;
  readonly nearerPeak: "FLOP/s" | "GB/s" | null;
  readonly timesPlain: number | null;
  readonly timesNative: number | null;
}

export function summariseOperation(
  { device, plain, native, flops, bytes, isTransfer }: OperationTimes,
  peaks: BenchDevice["peaks"],
): OperationSummary {
  const milliseconds = spreadOf(device);
  const rate = (amount: number) => amount / median(device) / 1e6;
  const shareOf = (value: number, peak: number | null | undefined) =>
    peak === null || peak === undefined || isTransfer ? null : value / peak;
  const [gigaflops, gigabytes] = [rate(flops), rate(bytes)];
  const compute = shareOf(gigaflops, peaks?.gigaflops);
  const memory = shareOf(gigabytes, peaks?.gigabytes);
  const peakShare =
    compute === null ? memory : memory === null ? compute : Math.max(compute, memory);
  const nearerPeak = peakShare === null ? null : peakShare === compute ? "FLOP/s" : "GB/s";
  const times = (base: readonly number[] | null) =>
    base === null ? null : pairedRatio(base, device);
  return {
    milliseconds,
    gigaflops,
    gigabytes,
    peakShare,
    nearerPeak,
    timesPlain: times(plain),
    timesNative: times(native),
  };
}

export function describeKernelTimes(
  device: BenchDevice,
  { title, agreesWith, operations, leftOut }: KernelTimes,
): string {
  const head = `kernels of ${deviceWords(device)}: ${title}`;
  if (leftOut !== null) return `${head}\nnot measured: ${leftOut}`;
  const rows = operations.map((one) => {
    const of = summariseOperation(one, device.peaks);
    const { median: middle, low, high } = of.milliseconds;
    return [
      one.name,
      figure(middle),
      `${figure(low)}–${figure(high)}`,
      of.gigaflops === 0 ? "" : figure(of.gigaflops),
      figure(of.gigabytes),
      of.nearerPeak === null ? "" : `${percent(of.peakShare)} of ${of.nearerPeak}`,
      one.plain === null ? "" : figure(median(one.plain)),
      optional(of.timesPlain),
      one.native === null ? "" : figure(median(one.native)),
      optional(of.timesNative),
    ];
  });
  const columns = ["", "ms", "p10–p90", "GFLOP/s", "GB/s", "of peak"];
  const others = ["plain, ms", "× plain", "native, ms", "× native"];
  const agreement =
    agreesWith.length === 0 ? "compared with nothing" : `agrees with ${agreesWith.join(", ")}`;
  return `${head}; ${agreement}\n${tableOf([...columns, ...others], rows)}`;
}

export function describeSoak(device: BenchDevice, result: SoakResult): string {
  const { steps, seconds, sizes, losses, resident, taken, work, leftBehind } = result;
  const trend = ({ first, last, verdict }: SoakResult["resident"]) =>
    `${mebibytes(first)} MiB in the first third, ${mebibytes(last)} MiB in the last: ${verdict}`;
  const size = `${sizes.labels.toLocaleString("en-US")} labels, ${sizes.hidden} hidden units, 1 to ${sizes.rows} rows`;
  return [
    `soak of ${deviceWords(device)}: ${steps} steps in ${seconds.toFixed(0)} s (${size}), loss ${losses.map(figure).join(" to ")}`,
    `  resident memory ${trend(resident)}`,
    `  memory taken on the device ${taken === null ? "is not told by its driver" : trend(taken)}`,
    `  work buffers ${work.map(mebibytes).join(" MiB, then ")} MiB` +
      (leftBehind === null ? "" : `; left behind on the device when closed: ${leftBehind} bytes`),
  ].join("\n");
}

export function describeMixed(result: MixedResult): string {
  const { algorithm, set, command, alone, mixed, seconds, weighed, complete, devices } = result;
  const rows = devices.map(({ name, kernels, updates, rows: trained, leastWeight, lost }) => [
    name,
    lost === null ? kernels : `lost: ${lost}`,
    updates.toLocaleString("en-US"),
    trained.toLocaleString("en-US"),
    leastWeight === null ? "" : leastWeight.toFixed(4),
  ]);
  const parts =
    weighed === 0 ? "" : `; every device has a part in ${complete} of ${weighed} merges or rounds`;
  return [
    `${algorithm} on ${set}: P@1 ${mixed.toFixed(4)}, by processors alone ${alone.toFixed(4)}${parts}; ${seconds.toFixed(0)} s`,
    tableOf(["", "kernels", "updates", "rows", "least weight"], rows),
    command,
  ].join("\n");
}
