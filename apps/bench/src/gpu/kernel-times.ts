/** How long each operation of a device's kernels takes, beside those of the processor, which it has to agree with. */
import { difference } from "../kernels/agreement.js";
import { interleave, type Contestant } from "../rounds.js";
import { openDeviceKernels, references, type DeviceRef } from "./open-kernels.js";
import {
  describeOperations,
  openOperations,
  type AnyKernels,
  type OpenOperations,
  type Operation,
  type OperationSizes,
} from "./operations.js";

export interface KernelTimesInput {
  readonly device: DeviceRef;
  readonly rows: number;
  readonly features: number;
  readonly labels: readonly number[];
  readonly rounds: number;
}

/** Milliseconds of one run, one figure a round, by whose kernels it was. */
export interface OperationTimes extends Pick<Operation, "name" | "flops" | "bytes" | "isTransfer"> {
  readonly device: readonly number[];
  readonly plain: readonly number[] | null;
  readonly native: readonly number[] | null;
}

export interface KernelTimes {
  readonly labels: number;
  readonly title: string;
  /** Kernels that the device's results agree with. */
  readonly agreesWith: readonly string[];
  readonly operations: readonly OperationTimes[];
  /** Why this size was not measured; else null. */
  readonly leftOut: string | null;
}

/** How long one runs in a round, in seconds, once at least. */
const SECONDS = 0.05;
/** What would take longer is left out, in seconds of its longest operation. */
const SLOWEST = 6;
/** Largest difference, as a share of the largest figure: products are summed in another order. */
const TOLERANCE = 1e-3;

/** @throws Error that names the operation whose results differ */
export async function kernelTimes(input: KernelTimesInput): Promise<readonly KernelTimes[]> {
  const all: KernelTimes[] = [];
  let last: { readonly labels: number; readonly slowest: number } | null = null;
  for (const labels of input.labels.toSorted((a, b) => a - b)) {
    const seconds: number = last === null ? 0 : (last.slowest * labels) / last.labels;
    if (seconds > SLOWEST) {
      const title = describeOperations({ ...input, labels });
      const leftOut = `one operation would take ${Math.round(seconds)} s or so`;
      all.push({ labels, title, agreesWith: [], operations: [], leftOut });
      continue;
    }
    const times = await timesOf(input, labels);
    const slowest = Math.max(...times.operations.map(({ device }) => Math.min(...device))) / 1000;
    last = { labels, slowest };
    all.push(times);
  }
  return all;
}

/** One that takes part: its operations, and how long they took. */
interface Entrant {
  readonly name: "device" | "plain" | "native";
  readonly kernels: AnyKernels;
  readonly opened: OpenOperations;
}

async function timesOf(
  { device, rows, features, rounds }: KernelTimesInput,
  labels: number,
): Promise<KernelTimes> {
  const sizes = { rows, features, labels };
  const entrants: Entrant[] = [];
  const enter = (name: Entrant["name"], kernels: AnyKernels) =>
    entrants.push({ name, kernels, opened: openOperations(kernels, sizes) });
  try {
    enter("device", openDeviceKernels(device).kernels);
    for (const { name, create, gigaflops } of references()) {
      if (secondsOfOutput(sizes, gigaflops) <= SLOWEST) enter(name, create());
    }
    await requireAgreement(entrants);
    for (const { opened } of entrants) opened.calm();
    const operations: OperationTimes[] = [];
    for (const [i, one] of entrants[0]!.opened.operations.entries()) {
      const milliseconds = await measure(entrants, i, rounds);
      const of = (name: Entrant["name"]) =>
        milliseconds[entrants.findIndex((entrant) => entrant.name === name)] ?? null;
      const { name, flops, bytes, isTransfer } = one;
      const times = { device: of("device")!, plain: of("plain"), native: of("native") };
      operations.push({ name, flops, bytes, isTransfer, ...times });
    }
    const agreesWith = entrants.slice(1).map(({ name }) => name);
    return { labels, title: describeOperations(sizes), agreesWith, operations, leftOut: null };
  } finally {
    for (const { kernels } of entrants) await kernels.dispose();
  }
}

function secondsOfOutput({ rows, labels }: OperationSizes, gigaflops: number): number {
  return (6 * rows * labels * 128) / (gigaflops * 1e9);
}

/** Each runs each operation once, in the same order. @throws Error that names what differs */
async function requireAgreement(entrants: readonly Entrant[]): Promise<void> {
  const count = entrants[0]!.opened.operations.length;
  for (let i = 0; i < count; i++) {
    let expected: readonly Float32Array[] | null = null;
    for (const { name, opened } of entrants.toReversed()) {
      const operation = opened.operations[i]!;
      if (operation.isTransfer) continue;
      await operation.run();
      const results = await operation.results();
      expected ??= results;
      const worst = Math.max(...results.map((one, j) => difference(one, expected![j]!)));
      if (worst <= TOLERANCE) continue;
      throw new Error(
        `${operation.name}: ${name} and ${entrants.at(-1)!.name} differ by ${worst.toExponential(1)} of the largest figure`,
      );
    }
  }
}

/** Milliseconds of one run of an operation, for each entrant one a round. */
async function measure(
  entrants: readonly Entrant[],
  index: number,
  rounds: number,
): Promise<readonly (readonly number[])[]> {
  const runs: number[] = [];
  const contestants: Contestant[] = [];
  for (const [i, { name, opened }] of entrants.entries()) {
    const { run } = opened.operations[index]!;
    const repeated = async (times: number) => {
      for (let k = 0; k < times; k++) await run();
      await opened.finish();
    };
    // The first run may compile, or take memory.
    await repeated(1);
    const began = performance.now();
    await repeated(1);
    const seconds = (performance.now() - began) / 1000;
    runs.push(Math.max(1, Math.min(1000, Math.ceil(SECONDS / seconds))));
    contestants.push({ name, threads: 1, run: () => repeated(runs[i]!) });
  }
  // What it repeats by itself is in the time of one run.
  const timings = await interleave(contestants, { rounds, threadSeconds: null, seconds: 0 });
  return timings.map((all, i) => all.map(({ wall }) => (1000 * wall) / runs[i]!));
}
