import { TrainerError } from "../errors.js";

/** A device as a user names it. */
export interface DeviceSpec {
  /** Which technology drives it. */
  readonly kind: "cpu";
  /**
   * Fraction of its own speed at which it runs, in (0, 1]: after each batch the device idles so
   * that the whole takes `1 / speed` times as long. Unequal devices can so be had on any machine.
   */
  readonly speed: number;
}

const MAX_DEVICES = 64;
const EXPECTED = "expected a list like cpu,cpu@0.5 or 2*cpu (kind, then @ and a speed up to 1)";

/**
 * Reads a list of devices: `cpu`, `cpu@0.5` (a handicap), `3*cpu@0.5` (three of them), separated by
 * commas.
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
  const match = /^(?:(\d{1,4})\*)?([a-z]+)(:[^@]*)?(?:@(.+))?$/i.exec(part);
  if (!match) {
    throw new TrainerError(
      "DEVICE_SPEC",
      `cannot read device "${part}" in "${whole}"; ${EXPECTED}`,
    );
  }
  const [, countText, kind = "", argument, speedText] = match;
  if (kind !== "cpu") {
    throw new TrainerError(
      "DEVICE_SPEC",
      `unknown device kind "${kind}" in "${whole}"; this version drives: cpu`,
    );
  }
  if (argument !== undefined) {
    throw new TrainerError(
      "DEVICE_SPEC",
      `"${part}" asks for "${argument.slice(1)}" of a cpu device, but each runs on one thread; ` +
        `name it several times instead, e.g. 2*cpu`,
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
  return { count, spec: { kind, speed } };
}

/** The device as `parseDevices` reads it. */
export function formatDevice(spec: DeviceSpec): string {
  return spec.speed === 1 ? spec.kind : `${spec.kind}@${spec.speed}`;
}

/** One device a core: each runs on one thread. */
export function defaultDevices(cores: number): readonly DeviceSpec[] {
  const count = Math.max(1, Math.min(cores, MAX_DEVICES));
  return Array.from({ length: count }, () => ({ kind: "cpu", speed: 1 }) as const);
}
