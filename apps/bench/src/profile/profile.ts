/**
 * Where the time of one real run goes: every thread of `heterosgd train` is sampled, and what each
 * sample's call stack means is added up.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeviceUsage } from "@heterosgd/trainer";
import { describeEnvironment, environment } from "../environment.js";
import { filesOf } from "../named-sets.js";
import { ownFile } from "../own-files.js";
import { dataFolder, finalPrecision, trainByCommand, type FinishedRun } from "../run-command.js";
import { sum } from "../statistics.js";
import { deviceCategory, mainCategory } from "./categories.js";
import { samplesOf, type CpuProfile } from "./cpu-profile.js";
import { describeProfile, summariseProfile, type ThreadSamples } from "./profile-report.js";
import { createSourceFinder } from "./sources.js";

export interface ProfileOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/**
 * @param name - of a data set.
 * @param further - options of `heterosgd train`, after the files.
 */
export async function profile(
  name: string,
  further: readonly string[],
  { data, json = false }: ProfileOptions,
): Promise<void> {
  const args = (folder: string) => [...filesOf(name, folder), ...further];
  const where = environment();
  const { run, threads } = await profiledRun(args(dataFolder(data)));
  const summary = summariseProfile(threads);
  const command = ["heterosgd train", ...args("$HETEROSGD_DATA")].join(" ");
  const { end, start, seconds } = run;
  if (json) {
    const usage = end.devices.map((device) => device.usage);
    const document = { command, environment: where, seconds, usage, ...summary };
    console.log(JSON.stringify(document, null, 2));
    return;
  }
  console.log(describeProfile(summary, start.devices));
  console.log(describeUsage(run));
  console.log(
    `${seconds.toFixed(1)} s from the first device's start to the end; P@1 ${finalPrecision(run).toFixed(3)}`,
  );
  console.log(describeEnvironment(where));
  console.log(command);
}

/** What the devices' own clocks say. */
function describeUsage({ end }: FinishedRun): string {
  const usages = end.devices.flatMap(({ usage }) => usage ?? []);
  const total = sum(usages.flatMap((usage) => Object.values(usage)));
  const share = (activity: keyof DeviceUsage) =>
    `${activity} ${((100 * sum(usages.map((usage) => usage[activity]))) / total).toFixed(1)} %`;
  const activities = ["training", "evaluating", "merging", "waiting"] as const;
  return `By the devices' own clocks: ${activities.map(share).join(", ")}.`;
}

async function profiledRun(
  args: readonly string[],
): Promise<{ readonly run: FinishedRun; readonly threads: ThreadSamples }> {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-bench-"));
  try {
    const hook = `--import=${ownFile("hooks/profile-thread.mjs").href}`;
    const options = [process.env["NODE_OPTIONS"] ?? "", hook].join(" ").trim();
    const run = await trainByCommand(args, {
      NODE_OPTIONS: options,
      BENCH_PROFILES: folder,
    });
    return { run, threads: readThreads(folder) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Reads the files that the threads left, named by the threads' numbers: 0 is the main thread's. */
export function readThreads(folder: string): ThreadSamples {
  const sourceOf = createSourceFinder();
  const numbers = readdirSync(folder)
    .map((file) => Number.parseInt(file, 10))
    .toSorted((a, b) => a - b);
  const read = (number: number) =>
    JSON.parse(readFileSync(join(folder, `${number}.cpuprofile`), "utf8")) as CpuProfile;
  const [first, ...others] = numbers;
  if (first !== 0 || others.length === 0) {
    throw new Error(`the run left profiles of the threads ${numbers.join(", ") || "(none)"} only`);
  }
  return {
    main: samplesOf(read(0), (stack) => mainCategory(stack, sourceOf)),
    devices: others.map((number) =>
      samplesOf(read(number), (stack) => deviceCategory(stack, sourceOf)),
    ),
  };
}
