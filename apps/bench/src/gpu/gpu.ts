/**
 * Checks and times the kernels of GPUs, all by itself, in a time that is known before: does what it computes agree
 * with the reference, how long does it take, does it keep what it takes of memory, does it train beside others?
 */
import { spawnSync } from "node:child_process";
import { describeEnvironment, environment } from "../environment.js";
import type { SetResult } from "../step/step-report.js";
import type { Conformance } from "./conformance.js";
import { deviceWords, findDevices, withoutCublas, type BenchDevice } from "./devices.js";
import type { KernelTimes } from "./kernel-times.js";
import { gist } from "./gist.js";
import { mixedFaults, mixedRuns, type MixedResult } from "./mixed.js";
import {
  describeConformance,
  describeKernelTimes,
  describeMixed,
  describeSoak,
  describeSteps,
} from "./report.js";
import type { SoakResult, SoakSizes } from "./soak.js";
import { stepTimes } from "./steps.js";
import { packGpuBench } from "./pack.js";
import { runPart } from "./worker.js";

const parts = ["conformance", "steps", "kernels", "soak", "mixed"] as const;
type Part = (typeof parts)[number];

export interface GpuOptions {
  /** As `--devices` of the command. Default: those of hardware, else whatever the drivers offer. */
  readonly devices?: string;
  /** CUDA's driver library, instead of the system's. */
  readonly library?: string;
  /** Sizes of the output layer. Default 4,000, 50,000 and 670,091. */
  readonly labels?: readonly number[];
  /** Rows of a batch. Default 256. */
  readonly rows?: number;
  /** Default 135,909, as in Amazon-670k. */
  readonly features?: number;
  /** Default 5, after one that does not count. */
  readonly rounds?: number;
  /** Of the parts; all by default. */
  readonly only?: readonly string[];
  /** Steps of the soak. Default 2,000. */
  readonly steps?: number;
  /** What takes longer is ended, and a failure. Default 8. */
  readonly minutes?: number;
  /** The interpreter that has PyTorch. Default python3. */
  readonly python?: string;
  /** Folder of the data sets. */
  readonly data?: string;
  /** Packs what this takes into a file, for a machine without a registry, and does nothing else. */
  readonly pack?: string;
  readonly withNode?: boolean;
  readonly json?: boolean;
}

/** All that is found out. */
interface Findings {
  devices: readonly BenchDevice[];
  conformance: Record<string, Conformance>;
  steps: SetResult[];
  kernels: Record<string, readonly KernelTimes[]>;
  soak: Record<string, SoakResult>;
  mixed: MixedResult[];
}

const soakSizes: Readonly<Record<"hardware" | "software", SoakSizes>> = {
  hardware: { features: 135_909, hidden: 128, labels: 50_000, rows: 256 },
  software: { features: 5000, hidden: 32, labels: 500, rows: 16 },
};

/** Sets the exit code; the last line says `passed` or `failed: …`. */
export async function gpu(options: GpuOptions): Promise<void> {
  if (options.pack !== undefined) {
    const packages = packGpuBench(options.pack, options.withNode ?? false);
    console.log(`${options.pack} has this build and ${packages} packages`);
    return;
  }
  const { library, json = false, minutes = 8, labels, rows, features, rounds, steps } = options;
  const chosen = partsOf(options.only);
  for (const size of [...(labels ?? []), rows, features, rounds, steps]) {
    if (size !== undefined && (!Number.isInteger(size) || size < 1)) {
      throw new RangeError(`sizes and rounds are whole numbers from 1 on, received ${size}`);
    }
  }
  if (!(minutes > 0)) throw new RangeError(`minutes must be above 0, received ${minutes}`);
  // What is started from here on finds it too.
  if (library !== undefined) process.env["HETEROSGD_CUDA_LIBRARY"] = library;
  const where = environment();
  const command = ["npm run bench --", ...process.argv.slice(2)].join(" ");
  // With --json, stdout is the document's; people may follow on stderr.
  const say = (text: string) => (json ? console.error(text) : console.log(text));
  const { devices: found, missing } = findDevices(options.devices);
  const driver = nvidiaSmi();
  say(`${describeEnvironment(where)}\n${command}`);
  if (driver !== null) say(driver);
  const began = performance.now();
  const signal = AbortSignal.timeout(minutes * 60_000);
  const failures: string[] = found.length === 0 ? ["there is no device"] : [];
  const devices = await openable(found, failures, signal);
  for (const device of devices) say(deviceLine(device));
  for (const { name, reason } of missing) say(`no ${name}: ${reason}`);

  const findings: Findings = {
    devices,
    conformance: {},
    steps: [],
    kernels: {},
    soak: {},
    mixed: [],
  };
  const run = runner(options, findings, say, failures, signal);
  for (const part of devices.length === 0 ? [] : chosen) await run[part]();
  const seconds = (performance.now() - began) / 1000;
  const passed = failures.length === 0;
  if (json) {
    const head = { command, environment: where, driver, minutes, seconds, passed, failures };
    console.log(JSON.stringify({ ...head, missing, ...findings }, null, 2));
  }
  const software = devices.every(({ driver: kind }) => kind !== "hardware");
  say(
    passed
      ? `passed in ${Math.round(seconds)} s${software ? ", on software alone: it says nothing of a GPU's speed" : ""}`
      : `failed: ${failures.join(" | ")}`,
  );
  process.exitCode = passed ? 0 : 1;
}

/** Those that can be opened, each that has its products made by cuBLAS once more without. */
async function openable(
  found: readonly BenchDevice[],
  failures: string[],
  signal: AbortSignal,
): Promise<readonly BenchDevice[]> {
  const devices: BenchDevice[] = [];
  for (const device of found) {
    try {
      const kernels = await runPart("name", { device }, device.environment, signal);
      devices.push(device);
      if (kernels === "cuda-cublas") devices.push(withoutCublas(device));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failures.push(`${device.label} can't be opened: ${message}`);
    }
  }
  return devices;
}

function partsOf(names: readonly string[] | undefined): readonly Part[] {
  const unknown = names?.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) {
    throw new Error(`there is no part "${unknown}"; there are ${parts.join(", ")}`);
  }
  return names === undefined ? parts : parts.filter((part) => names.includes(part));
}

function deviceLine(device: BenchDevice): string {
  const { memory, peaks } = device;
  const size = `${(memory / 2 ** 30).toFixed(1)} GiB`;
  const { gigaflops = null, gigabytes = null } = peaks ?? {};
  const known = [
    ...(gigaflops === null ? [] : [`${(gigaflops / 1000).toFixed(1)} TFLOP/s in float32`]),
    ...(gigabytes === null ? [] : [`${gigabytes.toFixed(0)} GB/s`]),
  ];
  const most = known.length === 0 ? "" : `; peaks as computed from clocks: ${known.join(", ")}`;
  return `${deviceWords(device)}: ${size}${most}`;
}

function nvidiaSmi(): string | null {
  const fields =
    "name,driver_version,memory.total,memory.used,clocks.max.sm,clocks.max.mem,power.limit";
  const { status, stdout } = spawnSync("nvidia-smi", [`--query-gpu=${fields}`, "--format=csv"], {
    encoding: "utf8",
    timeout: 20_000,
  });
  return status === 0 ? stdout.trim() : null;
}

/** What makes each part. Nothing is thrown: what goes wrong is among the failures. */
function runner(
  options: GpuOptions,
  findings: Findings,
  say: (text: string) => void,
  failures: string[],
  signal: AbortSignal,
): Readonly<Record<Part, () => Promise<void>>> {
  const { devices } = findings;
  const { labels = [4000, 50_000, 670_091], rows = 256, features = 135_909 } = options;
  const { rounds = 5, steps = 2000, python = "python3", data, minutes = 8 } = options;
  const sizes = { labels, rows, features, rounds };
  const guarded = async (what: string, run: () => Promise<readonly string[]>) => {
    if (signal.aborted) {
      failures.push(`${what}: not begun within ${minutes} minutes`);
      return;
    }
    try {
      failures.push(...(await run()).map((fault) => `${what}: ${fault}`));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const why = signal.aborted ? `not done within ${minutes} minutes` : gist(message);
      say(`${what}: ${why}`);
      failures.push(`${what}: ${why}`);
    }
  };
  const each = async (what: string, run: (device: BenchDevice) => Promise<readonly string[]>) => {
    for (const device of devices) await guarded(`${what} of ${device.label}`, () => run(device));
  };
  return {
    conformance: () =>
      each("conformance", async (device) => {
        const result = await runPart("conformance", { device }, device.environment, signal);
        findings.conformance[device.label] = result;
        say(describeConformance(device, result));
        return result.failures.map(({ name, message }) => `${name}: ${message}`);
      }),
    steps: () =>
      guarded("steps", async () => {
        const sets = await stepTimes({ ...sizes, devices, python }, signal, (set) => {
          findings.steps.push(set);
          say(describeSteps(set, devices));
        });
        const absent = ({ missing }: SetResult) =>
          missing.filter(({ name }) => devices.some(({ label }) => label === name));
        // Software may be too slow for a size; a GPU may not be missing.
        return sets.flatMap((set) =>
          absent(set)
            .filter(({ reason }) => !reason.startsWith("a step would take"))
            .map(({ name, reason }) => `${name}, ${set.name}: ${gist(reason)}`),
        );
      }),
    kernels: () =>
      each("kernels", async (device) => {
        const result = await runPart("kernels", { ...sizes, device }, device.environment, signal);
        findings.kernels[device.label] = result;
        for (const one of result) say(describeKernelTimes(device, one));
        return [];
      }),
    soak: () =>
      each("soak", async (device) => {
        const network = soakSizes[device.driver === "hardware" ? "hardware" : "software"];
        const input = { device, steps, sizes: network };
        const result = await runPart("soak", input, device.environment, signal);
        findings.soak[device.label] = result;
        say(describeSoak(device, result));
        return soakFaults(result);
      }),
    mixed: () =>
      guarded("mixed", async () => {
        const once = devices.filter(({ label, spec }) => label === spec);
        const results = await mixedRuns(once, data, signal, (result) => {
          findings.mixed.push(result);
          say(describeMixed(result));
        });
        return results.flatMap(mixedFaults);
      }),
  };
}

/** What is not as it should be of a soak, in words; nothing if all is well. */
export function soakFaults({
  resident,
  taken,
  work,
  losses,
  leftBehind,
}: SoakResult): readonly string[] {
  const faults: string[] = [];
  if (resident.verdict === "growing") faults.push("resident memory grows");
  if (taken?.verdict === "growing") faults.push("the device's memory that is taken grows");
  if (work[0] !== work[1]) faults.push(`work buffers grow from ${work[0]} to ${work[1]} bytes`);
  if (!(losses[1] < losses[0])) faults.push(`the loss goes from ${losses[0]} to ${losses[1]}`);
  if (leftBehind !== null && leftBehind > 0) {
    faults.push(`${leftBehind} bytes are left behind on the device`);
  }
  return faults;
}
