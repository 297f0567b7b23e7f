/** What `bench profile` tells of a run's threads. */
import Table from "cli-table3";
import { sum } from "../statistics.js";
import {
  deviceCategories,
  mainCategories,
  overheadCategories,
  type DeviceCategory,
  type MainCategory,
} from "./categories.js";
import { secondsByCategory, type Sample } from "./cpu-profile.js";

export interface ThreadSamples {
  readonly main: readonly Sample<MainCategory>[];
  readonly devices: readonly (readonly Sample<DeviceCategory>[])[];
}

type Seconds<Category extends string> = Readonly<Partial<Record<Category, number>>>;

export interface ProfileSummary {
  /** Of each device, from the first work of any to the last of any. */
  readonly devices: readonly Seconds<DeviceCategory>[];
  /** The main thread before the devices' first work, until their last, and after it. */
  readonly before: Seconds<MainCategory>;
  readonly during: Seconds<MainCategory>;
  readonly after: Seconds<MainCategory>;
  /** Seconds of all devices together, from their first work to their last. */
  readonly devicesSeconds: number;
  /** Share of them that goes into merging, messages and waiting. */
  readonly overhead: number;
  /** The main thread's work meanwhile, as a share of them. */
  readonly coordination: number;
}

/** What only happens once training has begun; memory is taken and kernels are loaded before. */
const trains: readonly DeviceCategory[] = ["filling batches", "gather", "output", "evaluation"];

/** @throws Error if no device has done anything. */
export function summariseProfile({ main, devices }: ThreadSamples): ProfileSummary {
  const work = devices.flatMap((samples) =>
    samples.filter(({ category }) => trains.includes(category)),
  );
  if (work.length === 0) throw new Error("the profiles show no work of any device");
  let [from, to] = [Infinity, -Infinity];
  for (const { at, seconds } of work) {
    from = Math.min(from, at);
    to = Math.max(to, at + 1e6 * seconds);
  }
  const perDevice = devices.map((samples) => secondsByCategory(samples, from, to));
  const during = secondsByCategory(main, from, to);
  const total = (seconds: ReadonlyMap<string, number>, only?: readonly string[]) =>
    sum([...seconds].map(([name, value]) => (only?.includes(name) === false ? 0 : value)));
  const devicesSeconds = sum(perDevice.map((seconds) => total(seconds)));
  const busy = total(during) - (during.get("waiting") ?? 0);
  return {
    devices: perDevice.map((seconds) => Object.fromEntries(seconds)),
    before: Object.fromEntries(secondsByCategory(main, -Infinity, from)),
    during: Object.fromEntries(during),
    after: Object.fromEntries(secondsByCategory(main, to)),
    devicesSeconds,
    overhead: sum(perDevice.map((one) => total(one, overheadCategories))) / devicesSeconds,
    coordination: busy / devicesSeconds,
  };
}

export function describeProfile(
  summary: ProfileSummary,
  names: readonly { readonly name: string; readonly kernels: string }[],
): string {
  const { devices, before, during, after, devicesSeconds, overhead, coordination } = summary;
  const style = { head: [], border: [] };
  const deviceTable = new Table({
    head: [
      "seconds",
      ...devices.map((_, i) => `${names[i]?.name ?? i}: ${names[i]?.kernels ?? ""}`),
      "of all",
    ],
    style,
    colAligns: ["left", ...devices.map(() => "right" as const), "right"],
  });
  for (const category of deviceCategories) {
    const all = devices.map((seconds) => seconds[category] ?? 0);
    if (sum(all) === 0) continue;
    const cells = all.map((seconds) => seconds.toFixed(2));
    deviceTable.push([category, ...cells, percent(sum(all) / devicesSeconds)]);
  }
  const mainTable = new Table({
    head: ["main thread, seconds", "before training", "during it", "after it"],
    style,
    colAligns: ["left", "right", "right", "right"],
  });
  for (const category of mainCategories) {
    const all = [before, during, after].map((seconds) => seconds[category] ?? 0);
    if (sum(all) > 0) mainTable.push([category, ...all.map((seconds) => seconds.toFixed(2))]);
  }
  return [
    deviceTable.toString(),
    mainTable.toString(),
    `Merging, messages and waiting take ${percent(overhead)} of the devices' time, the main thread's work meanwhile comes to ${percent(coordination)} of it: ${percent(overhead + coordination)} together.`,
  ].join("\n");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
