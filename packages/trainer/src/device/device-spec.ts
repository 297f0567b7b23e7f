import type { DeviceInfo } from "@heterosgd/scheduler";
import { TrainerError } from "../errors.js";

/** A device as a user names it. */
export interface DeviceSpec {
  /** Which technology drives it. */
  readonly kind: "cpu";
  /** Threads that share the work of each of its batches. */
  readonly threads: number;
  /**
   * Fraction of its own speed at which it runs, in (0, 1]: after each batch the device idles so
   * that the whole takes `1 / speed` times as long. Unequal devices can so be had on any machine.
   */
  readonly speed: number;
  /** Its part in algorithms that tell the two apart (CPU+GPU Hogbatch). */
  readonly role: DeviceRole;
}

export type DeviceRole = NonNullable<DeviceInfo["role"]>;

/** How many can run at once. */
export const MAX_DEVICES = 64;
const MAX_THREADS = 256;
const ROLES: readonly DeviceRole[] = ["host", "accelerator"];
const EXPECTED =
  "expected a list like cpu,cpu@0.5, 2*cpu, cpu:4 or cpu:role=accelerator (kind, perhaps : and its threads, perhaps : and a role, perhaps @ and a speed up to 1)";

/**
 * Reads a list of devices, separated by commas:
 *
 * ```text
 * device = [count "*"] kind [":" threads] [":role=" role] ["@" speed]
 * ```
 *
 * `cpu`, `cpu:4` (one device that runs on four threads), `cpu@0.5` (a handicap),
 * `cpu:2:role=accelerator` (the part of a GPU in CPU+GPU Hogbatch), `3*cpu:2@0.5` (three of them).
 *
 * @throws TrainerError DEVICE_SPEC, naming the part that could not be read.
 */
export function parseDevices(text: string): readonly DeviceSpec[] {
  const specs: DeviceSpec[] = [];
  for (const part of text.split(",")) {
    const { count, spec } = parsePart(part.trim(), text);
    for (let i = 0; i < count; i++) specs.push(spec);
  }
  if (specs.length > MAX_DEVICES) {
    throw badSpec(
      `"${text}" names ${specs.length} devices; at most ${MAX_DEVICES} can run at once`,
    );
  }
  return specs;
}

function parsePart(part: string, whole: string): { count: number; spec: DeviceSpec } {
  const match = /^(?:(\d{1,4})\*)?([a-z]+)((?::[^:@]*)*)(?:@(.+))?$/i.exec(part);
  if (!match) throw badSpec(`cannot read device "${part}" in "${whole}"; ${EXPECTED}`);
  const [, countText, kind = "", settings = "", speedText] = match;
  if (kind !== "cpu") {
    throw badSpec(`unknown device kind "${kind}" in "${whole}"; this version drives: cpu`);
  }
  const count = countText === undefined ? 1 : Number(countText);
  if (count < 1) throw badSpec(`"${part}" asks for no device at all; ${EXPECTED}`);
  const speed = speedText === undefined ? 1 : Number(speedText);
  if (!(speed > 0 && speed <= 1)) {
    throw badSpec(
      `"${part}" has speed "${speedText}"; expected a number above 0 and at most 1, e.g. cpu@0.5`,
    );
  }
  return { count, spec: { kind, speed, ...parseSettings(part, settings.split(":").slice(1)) } };
}

/** What stands between colons: threads without a name, a role with one. */
function parseSettings(
  part: string,
  settings: readonly string[],
): Pick<DeviceSpec, "threads" | "role"> {
  let threads: number | undefined;
  let role: DeviceRole | undefined;
  for (const text of settings) {
    const [name = "", ...values] = text.split("=");
    if (values.length === 0) {
      if (threads !== undefined) throw badSpec(`"${part}" names its threads twice`);
      threads = parseThreads(part, text);
      continue;
    }
    if (name !== "role") {
      throw badSpec(`"${part}" sets "${name}"; what a device can be told is its role`);
    }
    if (role !== undefined) throw badSpec(`"${part}" names its role twice`);
    role = ROLES.find((known) => known === values.join("="));
    if (role === undefined) {
      throw badSpec(`"${part}" has role "${values.join("=")}"; expected ${ROLES.join(" or ")}`);
    }
  }
  return { threads: threads ?? 1, role: role ?? "host" };
}

function parseThreads(part: string, text: string): number {
  const threads = /^\d+$/.test(text) ? Number(text) : 0;
  if (threads < 1 || threads > MAX_THREADS) {
    throw badSpec(
      `"${part}" asks for "${text}" threads; expected a whole number from 1 to ${MAX_THREADS}, e.g. cpu:4`,
    );
  }
  return threads;
}

function badSpec(message: string): TrainerError {
  return new TrainerError("DEVICE_SPEC", message);
}

/** The device as `parseDevices` reads it. */
export function formatDevice({ kind, threads, speed, role }: DeviceSpec): string {
  return (
    kind +
    (threads === 1 ? "" : `:${threads}`) +
    (role === "host" ? "" : `:role=${role}`) +
    (speed === 1 ? "" : `@${speed}`)
  );
}

/** One device a core, each on one thread. */
export function defaultDevices(cores: number): readonly DeviceSpec[] {
  const count = Math.max(1, Math.min(cores, MAX_DEVICES));
  const spec: DeviceSpec = { kind: "cpu", threads: 1, speed: 1, role: "host" };
  return Array.from({ length: count }, () => spec);
}
