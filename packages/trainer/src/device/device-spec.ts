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
}

const MAX_DEVICES = 64;
const MAX_THREADS = 256;
const EXPECTED =
  "expected a list like cpu,cpu@0.5, 2*cpu or cpu:4 (kind, perhaps : and its threads, perhaps @ and a speed up to 1)";

/**
 * Reads a list of devices: `cpu`, `cpu:4` (one device that runs on four threads), `cpu@0.5` (a
 * handicap), `3*cpu:2@0.5` (three of them), separated by commas.
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
    throw new TrainerError(
      "DEVICE_SPEC",
      `"${text}" names ${specs.length} devices; at most ${MAX_DEVICES} can run at once`,
    );
  }
  return specs;
}

function parsePart(part: string, whole: string): { count: number; spec: DeviceSpec } {
  const match = /^(?:(\d{1,4})\*)?([a-z]+)(?::([^@]*))?(?:@(.+))?$/i.exec(part);
  if (!match) {
    throw new TrainerError(
      "DEVICE_SPEC",
      `cannot read device "${part}" in "${whole}"; ${EXPECTED}`,
    );
  }
  const [, countText, kind = "", threadsText, speedText] = match;
  if (kind !== "cpu") {
    throw new TrainerError(
      "DEVICE_SPEC",
      `unknown device kind "${kind}" in "${whole}"; this version drives: cpu`,
    );
  }
  const threads =
    threadsText === undefined ? 1 : /^\d+$/.test(threadsText) ? Number(threadsText) : 0;
  if (threads < 1 || threads > MAX_THREADS) {
    throw new TrainerError(
      "DEVICE_SPEC",
      `"${part}" asks for "${threadsText}" threads; expected a whole number from 1 to ${MAX_THREADS}, e.g. cpu:4`,
    );
  }
  const count = countText === undefined ? 1 : Number(countText);
  if (count < 1) {
    throw new TrainerError("DEVICE_SPEC", `"${part}" asks for no device at all; ${EXPECTED}`);
  }
  const speed = speedText === undefined ? 1 : Number(speedText);
  if (!(speed > 0 && speed <= 1)) {
    throw new TrainerError(
      "DEVICE_SPEC",
      `"${part}" has speed "${speedText}"; expected a number above 0 and at most 1, e.g. cpu@0.5`,
    );
  }
  return { count, spec: { kind, threads, speed } };
}

/** The device as `parseDevices` reads it. */
export function formatDevice({ kind, threads, speed }: DeviceSpec): string {
  return `${kind}${threads === 1 ? "" : `:${threads}`}${speed === 1 ? "" : `@${speed}`}`;
}

/** One device a core, each on one thread. */
export function defaultDevices(cores: number): readonly DeviceSpec[] {
  const count = Math.max(1, Math.min(cores, MAX_DEVICES));
  return Array.from({ length: count }, () => ({ kind: "cpu", threads: 1, speed: 1 }) as const);
}
