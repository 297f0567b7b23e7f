import type { DeviceId, DeviceInfo, PolicySetup } from "../contract.js";
import { SchedulerError } from "../errors.js";

/** A device with nothing left to default. */
export type CheckedDevice = Required<DeviceInfo>;

/**
 * The devices that a run starts with.
 *
 * @throws {@link SchedulerError} `INVALID_SETUP`
 */
export function checkedSetup({
  devices,
  rows,
}: Omit<PolicySetup, "parameters">): readonly CheckedDevice[] {
  requireSome(devices);
  if (!(Number.isSafeInteger(rows) && rows >= 1)) {
    throw new SchedulerError(
      "INVALID_SETUP",
      `The training set has ${rows} rows, but training needs at least 1.`,
    );
  }
  return devices.map((device, i) => checkedDevice(device, devices.slice(0, i)));
}

/** @throws {@link SchedulerError} `INVALID_SETUP` if there is none. */
export function requireSome(devices: readonly unknown[]): void {
  if (devices.length > 0) return;
  throw new SchedulerError("INVALID_SETUP", "There is no device to train on; give at least one.");
}

/**
 * The device, if it can be taken in beside those that are there.
 *
 * @throws {@link SchedulerError} `INVALID_SETUP`
 */
export function checkedDevice(
  { id, maxBatchRows, threads = 1, role = "host" }: DeviceInfo,
  present: readonly { readonly id: DeviceId }[],
): CheckedDevice {
  if (present.some((device) => device.id === id)) {
    throw new SchedulerError(
      "INVALID_SETUP",
      `Device ${id} is already there; ids are never reused.`,
    );
  }
  if (!(Number.isSafeInteger(maxBatchRows) && maxBatchRows >= 1)) {
    throw new SchedulerError(
      "INVALID_SETUP",
      `Device ${id} holds ${maxBatchRows} rows, but must hold batches of at least 1.`,
    );
  }
  if (!(Number.isSafeInteger(threads) && threads >= 1)) {
    throw new SchedulerError(
      "INVALID_SETUP",
      `Device ${id} has ${threads} threads, but must have at least 1.`,
    );
  }
  return { id, maxBatchRows, threads, role };
}

/** What was said of the devices when they entered. */
export function infosOf(devices: readonly CheckedDevice[]): readonly DeviceInfo[] {
  return devices.map(({ id, maxBatchRows, threads, role }) => ({
    id,
    maxBatchRows,
    threads,
    role,
  }));
}

/** The list with one device changed. */
export function withDevice<Device extends { readonly id: DeviceId }>(
  devices: readonly Device[],
  id: DeviceId,
  change: Partial<Device>,
): readonly Device[] {
  return devices.map((device) => (device.id === id ? { ...device, ...change } : device));
}

/** An answer that nothing was asked for. */
export function unexpected(event: string, device?: DeviceId): SchedulerError {
  const from = device === undefined ? "" : ` from device ${device}`;
  return new SchedulerError(
    "UNEXPECTED_EVENT",
    `Got "${event}"${from}, though nothing that it could answer was asked for. ` +
      "Every command must be answered once, by its own event.",
  );
}

/**
 * The device that an answer comes from; undefined if it was lost meanwhile, whose late answers
 * don't count.
 *
 * @throws {@link SchedulerError} `UNEXPECTED_EVENT` if it `owes` no such answer.
 */
export function answering<Device extends { readonly id: DeviceId; readonly lost?: boolean }>(
  devices: readonly Device[],
  id: DeviceId,
  owes: (device: Device) => boolean,
  event: string,
): Device | undefined {
  const device = devices.find((candidate) => candidate.id === id && candidate.lost !== true);
  if (device !== undefined && !owes(device)) throw unexpected(event, id);
  return device;
}
