import { TrainerError } from "../errors.js";
import type { DeviceRole } from "../device/device-spec.js";
import { MOST_SIMULATED_DEVICES, type Profile, type ProfileDevice } from "./profile.js";

const EXPECTED =
  "expected a list like gpu,gpu@0.8, 3*gpu@0.9, cpu:48 or gpu:joins=30:leaves=90 (a kind of the profile, perhaps : and threads, a role, when it joins or leaves in seconds, perhaps @ and a speed)";

/**
 * Reads a list of simulated devices, separated by commas:
 *
 * ```text
 * device = [count "*"] kind [":" threads] [":role=" role] [":joins=" s] [":leaves=" s] ["@" speed]
 * ```
 *
 * @throws TrainerError DEVICE_SPEC, naming the part that could not be read.
 */
export function parseSimulatedDevices(text: string, profile: Profile): readonly ProfileDevice[] {
  const devices = text.split(",").flatMap((part) => parsePart(part.trim(), text, profile));
  if (devices.length > MOST_SIMULATED_DEVICES) {
    throw bad(
      `"${text}" names ${devices.length} devices; at most ${MOST_SIMULATED_DEVICES} are simulated`,
    );
  }
  return devices;
}

function parsePart(part: string, whole: string, profile: Profile): readonly ProfileDevice[] {
  const match = /^(?:(\d{1,4})\*)?([a-z][a-z0-9]*)((?::[^:@]*)*)(?:@(.+))?$/i.exec(part);
  if (!match) throw bad(`cannot read device "${part}" in "${whole}"; ${EXPECTED}`);
  const [, countText = "1", kind = "", settings = "", speedText = "1"] = match;
  if (!Object.hasOwn(profile.kinds, kind)) {
    const known = Object.keys(profile.kinds).join(", ");
    throw bad(
      `unknown device kind "${kind}" in "${whole}"; the profile ${profile.name} has: ${known}`,
    );
  }
  const speed = numberOf(part, "speed", speedText, (value) => value > 0);
  const device = settings
    .split(":")
    .slice(1)
    .reduce<ProfileDevice>((read, setting) => withSetting(part, read, setting), {
      kind,
      ...(speed === 1 ? {} : { speed }),
    });
  if ((device.leaves ?? Infinity) <= (device.joins ?? 0)) {
    throw bad(`"${part}" leaves before it has joined`);
  }
  if (Number(countText) < 1) throw bad(`"${part}" asks for no device at all; ${EXPECTED}`);
  return Array.from({ length: Number(countText) }, () => device);
}

function withSetting(part: string, device: ProfileDevice, setting: string): ProfileDevice {
  const [name = "", value] = setting.split("=");
  if (value === undefined) {
    const isThreads = (threads: number) => Number.isInteger(threads) && threads >= 1;
    return { ...device, threads: numberOf(part, "threads", name, isThreads) };
  }
  switch (name) {
    case "role":
      if (value !== "host" && value !== "accelerator") {
        throw bad(`"${part}" has role "${value}"; expected host or accelerator`);
      }
      return { ...device, role: value satisfies DeviceRole };
    case "joins":
    case "leaves":
      return { ...device, [name]: numberOf(part, name, value, (seconds) => seconds >= 0) };
    default:
      throw bad(`"${part}" sets "${name}"; ${EXPECTED}`);
  }
}

function numberOf(
  part: string,
  name: string,
  text: string,
  isValid: (value: number) => boolean,
): number {
  const value = /^[\d.]+(e-?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value) && isValid(value)) return value;
  throw bad(`"${part}" has ${name} "${text}"; ${EXPECTED}`);
}

function bad(message: string): TrainerError {
  return new TrainerError("DEVICE_SPEC", message);
}

/** The device as `parseSimulatedDevices` reads it; a speed over time is named by its first one. */
export function formatSimulatedDevice(device: ProfileDevice): string {
  const { kind, speed = 1, threads, role, joins, leaves } = device;
  const settings = [
    threads,
    ...Object.entries({ role, joins, leaves }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    ),
  ].filter((setting) => setting !== undefined);
  const first = typeof speed === "number" ? speed : speed[0]![1];
  const varies = typeof speed === "number" || speed.length === 1 ? "" : "…";
  return `${[kind, ...settings].join(":")}${first === 1 && varies === "" ? "" : `@${first}${varies}`}`;
}
