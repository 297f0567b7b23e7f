/**
 * Decides what becomes of lost devices: each is opened anew, as a new device, some time later and some
 * times at most; a run that is left with too few ends. While a lost device is the last one and another
 * is on its way, the policy is not told yet: it would end the run.
 */
import type { DeviceId } from "@heterosgd/scheduler";
import { MAX_DEVICES, type DeviceSpec } from "../device/device-spec.js";
import { LONGEST_DELAY_MS } from "../device/supervisor.js";
import { TrainerError } from "../errors.js";
import type { Loss } from "./device-calls.js";

/** What a run does about lost devices. */
export interface ReplacementLimits {
  /** How often a device is opened anew, 0 for never. */
  readonly retries: number;
  /** Milliseconds before the first time; each further time twice as long. */
  readonly delayMs: number;
  /** Fewer devices than that, those on their way included, end the run. At least 1. */
  readonly minDevices: number;
}

/** Where a device comes from that takes a lost one's place. */
export interface Replaced {
  readonly device: DeviceId;
  /** Which retry of its it is, from 1 on. */
  readonly retry: number;
}

/** What is known of a loss when the policy is told. */
export interface KnownLoss {
  readonly device: DeviceId;
  /** In a sentence, with what is done about it where that is not to try again. */
  readonly reason: string;
  /** Which retry follows, null if none does. */
  readonly retry: number | null;
}

/** A retry that came to nothing. */
export interface FailedRetry extends Replaced {
  readonly reason: string;
}

export interface ReplacementsOptions extends ReplacementLimits {
  /** Those that are there from the start, by id. */
  readonly devices: readonly DeviceSpec[];
  /**
   * Opens one more device, which is to get the next id; what it resolves to has it join. Called for one
   * device at a time.
   */
  readonly open: (spec: DeviceSpec, replaced: Replaced | null) => Promise<() => DeviceId>;
  /** How many devices can be asked for something. */
  readonly living: () => number;
  /** Tells the policy. */
  readonly onLost: (loss: KnownLoss) => void;
  readonly onRetryFailed: (failed: FailedRetry) => void;
  /** Told once that fewer than `minDevices` are left, and how many. */
  readonly onTooFew: (left: number) => void;
  /** Told of errors that are no device's: the run cannot go on. */
  readonly onFailure: (error: unknown) => void;
}

export interface Replacements {
  lost(loss: Loss): void;
  /**
   * Adds a device to those that there are.
   *
   * @throws TrainerError RUN_OVER, DEVICE_SPEC (there are as many as can run at once), or why it can't
   * be had.
   */
  add(spec: DeviceSpec): Promise<DeviceId>;
  /** The run is over: nothing is opened any more. */
  stop(): void;
}

/** A device that the run was given, in whatever worker it lives by now. */
interface Place {
  readonly spec: DeviceSpec;
  retries: number;
}

export function createReplacements(options: ReplacementsOptions): Replacements {
  const { retries, delayMs, minDevices, onLost } = options;
  const places = new Map<DeviceId, Place>();
  options.devices.forEach((spec, id) => places.set(id, { spec, retries: 0 }));
  /** Devices that have joined and whose loss nobody knows of yet. */
  const present = new Set(places.keys());
  /** Devices that are waited for or being opened. */
  let coming = 0;
  let held: (() => void)[] = [];
  let isOver = false;
  const timers = new Set<NodeJS.Timeout>();
  let tail: Promise<unknown> = Promise.resolve();

  /** Opens devices one after another: each gets the next id. */
  function open(place: Place, replaced: Replaced | null): Promise<DeviceId> {
    const opening = tail.then(async () => {
      if (isOver) throw runOver();
      const join = await options.open(place.spec, replaced).catch((error: unknown) => {
        // The end of the run ends what is being opened.
        throw isOver ? runOver() : error;
      });
      // Whoever opened it sees to it that it is closed.
      if (isOver) throw runOver();
      const id = join();
      places.set(id, place);
      present.add(id);
      return id;
    });
    tail = opening.catch(() => undefined);
    return opening;
  }

  /** Has the place taken again, if it may be; says which retry that will be. */
  function retryLater(device: DeviceId, place: Place): number | null {
    if (isOver || place.retries >= retries) return null;
    const retry = ++place.retries;
    coming++;
    const wait = Math.min(delayMs * 2 ** (retry - 1), LONGEST_DELAY_MS);
    const timer = setTimeout(() => {
      timers.delete(timer);
      retryNow(place, { device, retry }).catch(options.onFailure);
    }, wait);
    timers.add(timer);
    return retry;
  }

  async function retryNow(place: Place, replaced: Replaced): Promise<void> {
    try {
      await open(place, replaced);
    } catch (error) {
      if (isOver) return;
      options.onRetryFailed({ ...replaced, reason: wordsOf(error) });
      retryLater(replaced.device, place);
    } finally {
      coming--;
      settle();
    }
  }

  async function add(spec: DeviceSpec): Promise<DeviceId> {
    if (isOver) throw runOver();
    if (present.size + coming >= MAX_DEVICES) {
      const message = `there are ${MAX_DEVICES} devices; no more can run at once`;
      throw new TrainerError("DEVICE_SPEC", message);
    }
    coming++;
    try {
      return await open({ spec, retries: 0 }, null);
    } finally {
      coming--;
      settle();
    }
  }

  /** Ends the run if too few are left; tells of losses as soon as that does not end it. */
  function settle(): void {
    const left = present.size + coming;
    if (!isOver && left < minDevices) {
      stop();
      releaseHeld();
      options.onTooFew(left);
    } else if (isOver || options.living() > 0) releaseHeld();
  }

  function releaseHeld(): void {
    const tell = held;
    held = [];
    for (const one of tell) one();
  }

  function stop(): void {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }

  return {
    lost({ device, reason: { message }, ended, handOn }) {
      present.delete(device);
      const place = places.get(device)!;
      const retry = ended ? retryLater(device, place) : null;
      const reason = message + (retry === null && !isOver ? whyNot(ended, place.retries) : "");
      held.push(() => {
        onLost({ device, reason, retry });
        handOn();
      });
      settle();
    },
    add,
    stop,
  };
}

function whyNot(ended: boolean, retries: number): string {
  if (!ended) {
    return "; it is not opened anew: its thread is stuck in foreign code, cannot be ended, and may yet write to memory that all share";
  }
  return retries === 0 ? "" : `; given up after ${retries} ${retries === 1 ? "retry" : "retries"}`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function runOver(): TrainerError {
  return new TrainerError("RUN_OVER", "the run is over: no device can be added any more");
}
