import type { DeviceId } from "@heterosgd/scheduler";
import type { DeviceCall, SupervisedDevice } from "../device/supervisor.js";
import { failureOf } from "../device/supervisor.js";
import { TrainerError } from "../errors.js";
import { createPace } from "./pace.js";

/** One call to a device, and what is to be done with its end. */
export interface Request<T> {
  /** Rows that it computes on, which is what its time-out follows from. Default: none. */
  readonly rows?: number;
  readonly work: DeviceCall<T>;
  readonly answer?: (value: T) => void;
  /**
   * Called instead of `answer` once the device is lost; from then on it touches nothing any more.
   */
  readonly lost?: () => void;
}

/** Calls to devices of which any may be lost at any moment. */
export interface DeviceCalls {
  /** Puts a call into the device's queue. */
  send<T>(device: DeviceId, request: Request<T>): void;
  living(): DeviceId[];
  /** Takes down how fast a device trains. */
  measured(device: DeviceId, rows: number, seconds: number): void;
  /** Why devices were lost, in that order. */
  losses(): readonly TrainerError[];
}

export interface DeviceCallsOptions {
  /** By device id. */
  readonly devices: readonly SupervisedDevice[];
  readonly onLost: (device: DeviceId, reason: TrainerError) => void;
  /** Told of errors that are no device's: the run cannot go on. */
  readonly onFailure: (error: unknown) => void;
}

export function createDeviceCalls(options: DeviceCallsOptions): DeviceCalls {
  const { devices, onLost, onFailure } = options;
  const alive = devices.map(() => true);
  const paces = devices.map(() => createPace());
  const losses: TrainerError[] = [];
  // What to do, once a device is lost, about each call that it has not answered.
  const unanswered = devices.map(() => new Set<() => void>());

  function lose(id: DeviceId, error: unknown): void {
    if (!alive[id]) return;
    alive[id] = false;
    const device = devices[id]!;
    const reason = error instanceof TrainerError ? error : failureOf(device.name, error);
    losses.push(reason);
    // Until its thread has ended it may write to memory that others take over.
    device
      .terminate()
      .then(() => {
        onLost(id, reason);
        for (const lost of unanswered[id]!) lost();
        unanswered[id]!.clear();
      })
      .catch(onFailure);
  }

  for (const [id, device] of devices.entries()) void device.death.then((error) => lose(id, error));

  return {
    send(id, { rows = 0, work, answer = () => undefined, lost = () => undefined }) {
      const device = devices[id];
      if (device === undefined)
        throw new RangeError(`the policy names device ${id}, which does not exist`);
      if (!alive[id]) return lost();
      const pace = paces[id]!;
      unanswered[id]!.add(lost);
      device
        .call(pace.begin(rows), work)
        .then(
          (value) => {
            pace.end(rows);
            if (!alive[id]) return;
            unanswered[id]!.delete(lost);
            answer(value);
          },
          (error: unknown) => lose(id, error),
        )
        .catch(onFailure);
    },
    living: () => [...devices.keys()].filter((id) => alive[id]),
    measured: (id, rows, seconds) => paces[id]!.measured(rows, seconds),
    losses: () => losses,
  };
}
