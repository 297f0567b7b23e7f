import type { DeviceInfo } from "@heterosgd/scheduler";
import type { DeviceApi, DeviceUsage } from "../device/api.js";
import type { Clock } from "./clock.js";
import type { Timing } from "./timing.js";

type Activity = "training" | "merging";

/** What a command has a device do. */
export interface Task {
  readonly activity: Activity;
  /**
   * Begins with what there is then; answers when it is complete, and what is to happen then.
   */
  readonly begin: () => Begun | Promise<Begun>;
  /** The device has left before it was complete. */
  readonly dropped?: () => void;
}

export interface Begun {
  readonly until: number;
  readonly land: () => void | Promise<void>;
}

/** A device on the virtual clock: one task at a time, in the order in which it was given them. */
export interface SimulatedDevice {
  readonly info: DeviceInfo;
  readonly host: DeviceApi;
  readonly timing: Timing;
  readonly isThere: () => boolean;
  whereabouts(): "to come" | "there" | "gone";
  arrive(): void;
  /** It is gone, with all that it was given and has not completed. */
  leave(): void;
  /** It has left before this simulation began. */
  missed(): void;
  /** A device that is not there takes nothing. */
  readonly give: (task: Task) => void;
  usage(): DeviceUsage;
}

export function createSimulatedDevice(
  clock: Clock,
  info: DeviceInfo,
  host: DeviceApi,
  timing: Timing,
): SimulatedDevice {
  const spent = { training: 0, merging: 0 };
  const queue: Task[] = [];
  let isBusy = false;
  let arrived: number | null = null;
  let left: number | null = null;
  const isThere = () => arrived !== null && left === null;

  async function beginNext(): Promise<void> {
    const [task] = queue;
    isBusy = task !== undefined && isThere();
    if (task === undefined || !isThere()) return;
    const began = clock.now();
    const { until, land } = await task.begin();
    clock.schedule(until, async () => {
      if (!isThere()) return;
      spent[task.activity] += until - began;
      queue.shift();
      await land();
      await beginNext();
    });
  }

  return {
    info,
    host,
    timing,
    isThere,
    whereabouts: () => (left !== null ? "gone" : arrived === null ? "to come" : "there"),
    missed: () => void (left = clock.now()),
    arrive: () => void (arrived = clock.now()),
    leave() {
      left = clock.now();
      for (const { dropped } of queue.splice(0)) dropped?.();
    },
    give(task) {
      if (!isThere()) return;
      queue.push(task);
      if (isBusy) return;
      isBusy = true;
      // Not before all that is asked for at this moment has been asked for.
      clock.schedule(clock.now(), beginNext);
    },
    usage() {
      const present = (left ?? clock.now()) - (arrived ?? clock.now());
      const waiting = Math.max(0, present - spent.training - spent.merging);
      return { ...spent, evaluating: 0, waiting };
    },
  };
}
