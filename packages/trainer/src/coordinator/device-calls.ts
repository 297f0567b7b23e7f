import type { DeviceId } from "@heterosgd/scheduler";
import type { DeviceCall, SupervisedDevice } from "../device/supervisor.js";
import { failureOf } from "../device/supervisor.js";
import { TrainerError } from "../errors.js";
import { createPace, type Pace, type PaceLimits } from "./pace.js";

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

/** A device is lost: it is dead by now, and gives no more answers. */
export interface Loss {
  readonly device: DeviceId;
  readonly reason: TrainerError;
  /** Whether its thread has ended; one that is stuck in foreign code can't be made to. */
  readonly ended: boolean;
  /** Tells all that wait for its answers that there will be none; others may take over then. */
  readonly handOn: () => void;
}

/** Calls to devices of which any may be lost at any moment. */
export interface DeviceCalls {
  /** Takes on the device of the next id. */
  join(device: SupervisedDevice): DeviceId;
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
  readonly pace?: PaceLimits | undefined;
  /** Must see to it that the loss is handed on. */
  readonly onLost: (loss: Loss) => void;
  /** Told of errors that are no device's: the run cannot go on. */
  readonly onFailure: (error: unknown) => void;
}

interface Member {
  readonly device: SupervisedDevice;
  readonly pace: Pace;
  /** What to do, once it is lost, about each call that it has not answered. */
  readonly unanswered: Set<() => void>;
  alive: boolean;
}

export function createDeviceCalls(options: DeviceCallsOptions): DeviceCalls {
  const { onLost, onFailure } = options;
  const members: Member[] = [];
  const losses: TrainerError[] = [];

  function lose(id: DeviceId, error: unknown): void {
    const { device, unanswered, alive } = members[id]!;
    if (!alive) return;
    members[id]!.alive = false;
    const reason = error instanceof TrainerError ? error : failureOf(device.name, error);
    losses.push(reason);
    const handOn = () => {
      for (const lost of unanswered) lost();
      unanswered.clear();
    };
    // Until its thread has ended it may write to memory that others take over.
    device
      .terminate()
      .then((ended) => onLost({ device: id, reason, ended, handOn }))
      .catch(onFailure);
  }

  function join(device: SupervisedDevice): DeviceId {
    const pace = createPace(options.pace);
    const id = members.push({ device, pace, unanswered: new Set(), alive: true }) - 1;
    void device.death.then((error) => lose(id, error));
    return id;
  }

  options.devices.forEach(join);

  return {
    join,
    send(id, { rows = 0, work, answer = () => undefined, lost = () => undefined }) {
      const member = members[id];
      if (member === undefined)
        throw new RangeError(`the policy names device ${id}, which does not exist`);
      if (!member.alive) return lost();
      const { device, pace, unanswered } = member;
      unanswered.add(lost);
      device
        .call(pace.begin(rows), work)
        .then(
          (value) => {
            pace.end(rows);
            if (!member.alive) return;
            unanswered.delete(lost);
            answer(value);
          },
          (error: unknown) => lose(id, error),
        )
        .catch(onFailure);
    },
    living: () => [...members.keys()].filter((id) => members[id]!.alive),
    measured: (id, rows, seconds) => members[id]!.pace.measured(rows, seconds),
    losses: () => losses,
  };
}
