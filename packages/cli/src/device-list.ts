/**
 * `devices.json` in a run's folder: the list of devices that the run is to have, such as
 * `{"devices": "cpu,cpu@0.5"}`. The run reads it again when it is told to, and opens what is new.
 */
import { readFileSync } from "node:fs";
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  devicesFile,
  formatDevice,
  parseDevices,
  writeWhole,
  type DeviceControl,
  type DeviceSpec,
} from "@heterosgd/trainer";
import { CliError, describeError } from "./errors.js";

/** How often the file is looked at where no signal can tell of it. */
const LOOK_MS = 500;

/** How often somebody looks whether the list is free to be changed, and how long a change may take. */
const TURN_MS = 20;
const STALE_MS = 5000;

/** @throws CliError CONFIG_FORMAT; TrainerError DEVICE_SPEC */
export function parseDeviceList(text: string, source: string): readonly DeviceSpec[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CliError("CONFIG_FORMAT", `${source} is no JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
  const { devices, ...others } = Object(value) as Record<string, unknown>;
  if (typeof devices !== "string" || Object.keys(others).length > 0) {
    throw new CliError("CONFIG_FORMAT", `${source} must be like {"devices": "cpu,cpu@0.5"}`);
  }
  return parseDevices(devices);
}

/** The text of a run's list, null where it has none. @throws the system's error */
export function readDeviceList(folder: string): string | null {
  try {
    return readFileSync(join(folder, devicesFile), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Writes the list so that it is there whole or not at all. @throws the system's error */
export async function writeDeviceList(
  folder: string,
  devices: readonly DeviceSpec[],
): Promise<string> {
  const text = `${JSON.stringify({ devices: devices.map(formatDevice).join(",") })}\n`;
  await writeWhole(join(folder, devicesFile), text);
  return text;
}

/**
 * Lets one process after the other change the list. Whoever was killed over it is waited for no longer
 * than `STALE_MS`.
 *
 * @throws what `change` throws; the system's error
 */
export async function changeDeviceList<T>(folder: string, change: () => Promise<T>): Promise<T> {
  const turn = join(folder, `${devicesFile}.lock`);
  while (!(await takesTurn(turn))) await sleep(TURN_MS);
  try {
    return await change();
  } finally {
    await rm(turn, { force: true });
  }
}

async function takesTurn(path: string): Promise<boolean> {
  try {
    await writeFile(path, "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const since = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - since > STALE_MS) await rm(path, { force: true });
    return false;
  }
}

/** What is in the second list beyond what is in the first, each as often as it is more often there. */
export function addedDevices(
  has: readonly DeviceSpec[],
  wanted: readonly DeviceSpec[],
): readonly DeviceSpec[] {
  const left = has.map(formatDevice);
  return wanted.filter((spec) => {
    const at = left.indexOf(formatDevice(spec));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

export interface DeviceListOptions {
  readonly folder: string;
  /** What the run has been given. */
  readonly devices: readonly DeviceSpec[];
  readonly warn: (text: string) => void;
  readonly onFailed: (spec: string, reason: string) => void;
}

/** Follows a run's list of devices. */
export interface DeviceListWatch {
  /** Reads the list if it has changed since it was last read; says whether it has. */
  look(): boolean;
  /** From now on devices can be added. */
  ready(control: DeviceControl): void;
  stop(): void;
}

export function watchDeviceList(options: DeviceListOptions): DeviceListWatch {
  const { folder, warn, onFailed } = options;
  const path = join(folder, devicesFile);
  const given = [...options.devices];
  let control: DeviceControl | null = null;
  let seen = readDeviceList(folder);
  let tail: Promise<void> = Promise.resolve();

  async function add(spec: DeviceSpec): Promise<void> {
    try {
      await control!.add(spec);
    } catch (error) {
      given.splice(given.lastIndexOf(spec), 1);
      onFailed(formatDevice(spec), describeError(error));
      // What the list says must be so, else the next one to add another would ask for this one too.
      await changeDeviceList(folder, async () => {
        if (readDeviceList(folder) === seen) seen = await writeDeviceList(folder, given);
      });
    }
  }

  function read(): void {
    if (control === null || seen === null) return;
    try {
      const wanted = parseDeviceList(seen, path);
      const missing = addedDevices(wanted, given).length;
      if (missing > 0) warn(`${path} lists fewer devices than the run has; none is taken away`);
      for (const spec of addedDevices(given, wanted)) {
        given.push(spec);
        tail = tail.then(() => add(spec)).catch((error: unknown) => warn(describeError(error)));
      }
    } catch (error) {
      warn(`the list of devices was left as it was: ${describeError(error)}`);
    }
  }

  function look(): boolean {
    let text: string | null;
    try {
      text = readDeviceList(folder);
    } catch (error) {
      warn(`the list of devices cannot be read: ${describeError(error)}`);
      return true;
    }
    if (text === null || text === seen) return false;
    seen = text;
    read();
    return true;
  }

  const timer = process.platform === "win32" ? setInterval(look, LOOK_MS) : undefined;
  timer?.unref();
  return {
    look,
    ready(ready) {
      control = ready;
      read();
    },
    stop: () => clearInterval(timer),
  };
}
