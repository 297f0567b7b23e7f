/**
 * Runs of `heterosgd train` in which the processor and all devices that are measured train one network, beside runs
 * of processors alone.
 */
import { existsSync } from "node:fs";
import { dataFolder, finalPrecision, runByCommand, type FinishedRun } from "../run-command.js";
import { filesOf } from "../named-sets.js";
import type { BenchDevice } from "./devices.js";

export interface MixedResult {
  readonly algorithm: string;
  readonly set: string;
  /** Arguments of `heterosgd train`. */
  readonly command: string;
  /** P@1 at the end: of processors alone, and of the mixed devices. */
  readonly alone: number;
  readonly mixed: number;
  readonly seconds: number;
  /** Merges or rounds of the mixed run that weigh what devices did, and in how many all had a part. */
  readonly weighed: number;
  readonly complete: number;
  readonly devices: readonly {
    readonly name: string;
    readonly kernels: string;
    readonly updates: number;
    readonly rows: number;
    /** Why it was lost; null if it was not. */
    readonly lost: string | null;
    /** The smallest in a merge or round; null where nothing is weighed. */
    readonly leastWeight: number | null;
  }[];
}

/** So much below the processors' P@1 is as good. */
const TOLERANCE = 0.01;

/**
 * Steps of plain SGD need many updates to come far: ABS-SGD gets small micro-batches and more epochs, and the two
 * Hogbatches higher rates than by default.
 */
const algorithms: Readonly<Record<string, string>> = {
  "adaptive-sgd": "--epochs 5",
  "abs-sgd": "--epochs 10 --micro-batch 8",
  hogbatch: "--epochs 5 --learning-rate 0.2",
  "adaptive-hogbatch": "--epochs 5 --learning-rate 0.5",
};
/** Those in each of whose merges or rounds every device has to have a part: the others share a model without locks. */
const weighing = ["adaptive-sgd", "abs-sgd"];

/**
 * The processor's speed beside devices of hardware, and, where all is software on that same processor, the speeds at
 * which none of them does nearly all of the work.
 */
const speeds = { "software driver": "@0.3", emulated: "", hardware: "" } as const;
const PROCESSOR_BESIDE_SOFTWARE = "cpu@0.03";

export function mixedDevices(devices: readonly BenchDevice[]): string {
  const hardware = devices.some(({ driver }) => driver === "hardware");
  const others = devices.map(({ spec, driver }) => spec + speeds[driver]);
  return [hardware ? "cpu" : PROCESSOR_BESIDE_SOFTWARE, ...others].join(",");
}

export const MIXED_SET = "delicious";

/** That one where the data folder has it; else the bundled sample. */
function chooseSet(data: string | undefined): {
  readonly name: string;
  readonly files: readonly string[];
} {
  try {
    const files = filesOf(MIXED_SET, dataFolder(data));
    if (existsSync(files[0]!)) return { name: MIXED_SET, files };
  } catch (error) {
    if (data !== undefined) throw error;
  }
  return { name: "the bundled sample", files: ["--sample"] };
}

/** @throws CommandFailure with what the command printed, if it fails; the signal's reason */
export async function mixedRuns(
  devices: readonly BenchDevice[],
  data: string | undefined,
  signal: AbortSignal,
  onResult: (result: MixedResult) => void,
): Promise<readonly MixedResult[]> {
  const { name: set, files } = chooseSet(data);
  const mixed = mixedDevices(devices);
  const results: MixedResult[] = [];
  for (const [algorithm, options] of Object.entries(algorithms)) {
    const accelerator = algorithm.endsWith("hogbatch") ? "cpu:role=accelerator" : "cpu";
    const processors = ["cpu", ...devices.map(() => accelerator)].join(",");
    const own = ["--algorithm", algorithm, ...options.split(" "), "--checkpoint-every", "never"];
    const run = (list: string) =>
      runByCommand("train", [...files, ...own, "--devices", list], {}, signal);
    const alone = await run(processors);
    const together = await run(mixed);
    const command = ["heterosgd train", ...own, "--devices", mixed].join(" ");
    const result = resultOf(algorithm, set, command, alone, together);
    onResult(result);
    results.push(result);
  }
  return results;
}

function resultOf(
  algorithm: string,
  set: string,
  command: string,
  alone: FinishedRun,
  mixed: FinishedRun,
): MixedResult {
  const { end, seconds } = mixed;
  // The last round of ABS-SGD is of whatever rows are left, perhaps one micro-batch.
  const all = [...mixed.merges, ...mixed.rounds.slice(0, -1)];
  const reports = weighing.includes(algorithm) ? all : [];
  const weightsOf = (device: number) =>
    reports.map(({ devices }) => devices.find((one) => one.device === device)?.weight ?? 0);
  return {
    algorithm,
    set,
    command,
    alone: finalPrecision(alone),
    mixed: finalPrecision(mixed),
    seconds,
    weighed: reports.length,
    complete: reports.filter(
      ({ devices }) =>
        devices.length === end.devices.length &&
        devices.every(({ updates, weight }) => updates > 0 && (weight ?? 0) > 0),
    ).length,
    devices: end.devices.map(({ name, kernels, updates, rows, lost }, i) => ({
      name,
      kernels,
      updates,
      rows,
      lost,
      leastWeight: reports.length === 0 ? null : Math.min(...weightsOf(i)),
    })),
  };
}

/** What is not as it should be, in words; nothing if all is well. */
export function mixedFaults(result: MixedResult): readonly string[] {
  const { algorithm, alone, mixed, weighed, complete, devices } = result;
  const faults: string[] = [];
  if (!(mixed >= alone - TOLERANCE)) {
    faults.push(`P@1 ${mixed.toFixed(4)} is below the processors' ${alone.toFixed(4)}`);
  }
  if (weighing.includes(algorithm) && (weighed === 0 || complete < weighed)) {
    faults.push(`${weighed - complete} of ${weighed} merges or rounds lack a device`);
  }
  for (const { name, updates, lost } of devices) {
    if (lost !== null) faults.push(`${name} was lost: ${lost}`);
    else if (updates === 0) faults.push(`${name} made no update`);
  }
  return faults.map((fault) => `${algorithm}: ${fault}`);
}
