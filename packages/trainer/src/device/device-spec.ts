import type { GpujsNodeMode } from "@heterosgd/gpu-kernels";
import type { DeviceInfo } from "@heterosgd/scheduler";
import { TrainerError } from "../errors.js";

/** A device as a user names it. */
export interface DeviceSpec {
  /** Which technology drives it. */
  readonly kind: DeviceKind;
  /** Threads that share the work of each of its batches; 1 for GPUs. */
  readonly threads: number;
  /**
   * Which of the technology's devices it is: its number, or the first of that kind. Left out: the first
   * one, of OpenCL's the first GPU if there is one. Processors and gpu.js have none.
   */
  readonly which?: GpuChoice;
  /** What gpu.js computes on; other technologies have none. */
  readonly mode?: GpujsNodeMode;
  /**
   * `process`: gpu.js runs in a process of its own, so that a crash of a graphics driver loses this device only.
   * Left out: in the device's thread.
   */
  readonly isolation?: "process";
  /**
   * Fraction of its own speed at which it runs, in (0, 1]: after each batch the device idles so
   * that the whole takes `1 / speed` times as long. Unequal devices can so be had on any machine.
   */
  readonly speed: number;
  /**
   * Its part in algorithms that tell the two apart (CPU+GPU Hogbatch). GPUs are accelerators: they have
   * their own copy of the model.
   */
  readonly role: DeviceRole;
}

export type DeviceKind = "cpu" | GpuTechnology | "gpujs";
export type GpuTechnology = "cuda" | "opencl";
/** OpenCL drives processors and other accelerators too. */
export type GpuChoice = number | "gpu" | "cpu" | "accelerator";

export type DeviceRole = NonNullable<DeviceInfo["role"]>;

/** How many can run at once. */
export const MAX_DEVICES = 64;
const MAX_THREADS = 256;
const KINDS: readonly DeviceKind[] = ["cpu", "cuda", "opencl", "gpujs"];
const OPENCL_KINDS = ["gpu", "cpu", "accelerator"] as const;
const GPUJS_MODES: readonly GpujsNodeMode[] = ["headlessgl", "webasm", "cpu"];
const ROLES: readonly DeviceRole[] = ["host", "accelerator"];
const EXPECTED =
  "expected a list like cpu,cpu@0.5, 2*cpu, cpu:4, cuda, cuda:1, opencl:gpu, gpujs or cpu:role=accelerator (kind, perhaps : and its threads or which of them, perhaps : and a role, perhaps @ and a speed up to 1)";

/**
 * Reads a list of devices, separated by commas:
 *
 * ```text
 * device = [count "*"] name [":role=" role] ["@" speed]
 * name   = "cpu" [":" threads] | "cuda" [":" number] | "opencl" [":" (number | "gpu" | "cpu" | "accelerator")]
 *        | "gpujs" [":" ("headlessgl" | "webasm" | "cpu")] [":process"]
 * ```
 *
 * `cpu`, `cpu:4` (one device that runs on four threads), `cpu@0.5` (a handicap),
 * `cpu:2:role=accelerator` (the part of a GPU in CPU+GPU Hogbatch), `3*cpu:2@0.5` (three of them).
 * `cuda` (the first GPU that CUDA has), `cuda:1` (the second one), `opencl` (OpenCL's first GPU, or what it
 * has first), `opencl:cpu` (its first processor). `2*cuda` is the same GPU twice. `gpujs` (gpu.js on headless-gl, the
 * same as `gpujs:headlessgl`), `gpujs:webasm` and `gpujs:cpu` (gpu.js without a GPU), `gpujs:process` (in a process
 * of its own). Whether there are such devices is for `chooseKernels` to say.
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
  if (!isKind(kind)) {
    throw badSpec(
      `unknown device kind "${kind}" in "${whole}"; this version drives: ${KINDS.join(", ")}`,
    );
  }
  const count = countText === undefined ? 1 : Number(countText);
  if (count < 1) throw badSpec(`"${part}" asks for no device at all; ${EXPECTED}`);
  const speed = speedText === undefined ? 1 : Number(speedText);
  if (!(speed > 0 && speed <= 1)) {
    throw badSpec(
      `"${part}" has speed "${speedText}"; expected a number above 0 and at most 1, e.g. cpu@0.5`,
    );
  }
  return {
    count,
    spec: { kind, speed, ...parseSettings(part, kind, settings.split(":").slice(1)) },
  };
}

/** What stands between colons: threads or which device without a name, a role with one. */
function parseSettings(
  part: string,
  kind: DeviceKind,
  settings: readonly string[],
): Pick<DeviceSpec, "threads" | "which" | "mode" | "isolation" | "role"> {
  const own: string[] = [];
  let role: DeviceRole | undefined;
  for (const text of settings) {
    const [name = "", ...values] = text.split("=");
    if (values.length === 0) {
      own.push(text);
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
  const [first] = own;
  if (own.length > 1 && kind !== "gpujs") {
    throw badSpec(`"${part}" names ${kind === "cpu" ? "its threads" : "which it is"} twice`);
  }
  if (kind === "cpu") {
    return { threads: first === undefined ? 1 : parseThreads(part, first), role: role ?? "host" };
  }
  if (role === "host") {
    throw badSpec(
      `"${part}" has role "host", which works on the shared model itself; a ${kind} device has a copy of its own: leave the role out`,
    );
  }
  const common = { threads: 1, role: "accelerator" } as const;
  if (kind === "gpujs") return { ...common, ...parseGpujs(part, own) };
  return first === undefined ? common : { ...common, which: parseWhich(part, kind, first) };
}

function parseGpujs(
  part: string,
  settings: readonly string[],
): Pick<DeviceSpec, "mode" | "isolation"> {
  const modes = settings.filter((text) => text !== "process");
  const [text = "headlessgl"] = modes;
  const mode = GPUJS_MODES.find((known) => known === text);
  if (mode === undefined) {
    throw badSpec(
      `"${part}" asks for gpu.js on "${text}"; expected ${GPUJS_MODES.join(", ")} or process, e.g. gpujs:headlessgl:process`,
    );
  }
  if (modes.length > 1) throw badSpec(`"${part}" names what gpu.js runs on twice`);
  if (settings.length - modes.length > 1) throw badSpec(`"${part}" names its process twice`);
  return { mode, ...(settings.length > modes.length ? { isolation: "process" as const } : {}) };
}

function parseWhich(part: string, kind: GpuTechnology, text: string): GpuChoice {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const choice = OPENCL_KINDS.find((known) => known === text);
  if (choice !== undefined && kind === "opencl") return choice;
  const kinds = kind === "opencl" ? `, or ${OPENCL_KINDS.join(", ")}` : "";
  throw badSpec(
    `"${part}" asks for ${kind} device "${text}"; expected a number from 0 on${kinds}, e.g. ${kind}:1`,
  );
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
export function formatDevice(spec: DeviceSpec): string {
  const { kind, threads, which, mode, isolation, speed, role } = spec;
  return (
    kind +
    (threads === 1 ? "" : `:${threads}`) +
    (which === undefined ? "" : `:${which}`) +
    (mode === undefined ? "" : `:${mode}`) +
    (isolation === undefined ? "" : `:${isolation}`) +
    (role === usualRole(kind) ? "" : `:role=${role}`) +
    (speed === 1 ? "" : `@${speed}`)
  );
}

function usualRole(kind: DeviceKind): DeviceRole {
  return kind === "cpu" ? "host" : "accelerator";
}

function isKind(name: string): name is DeviceKind {
  return (KINDS as readonly string[]).includes(name);
}

/** One device a core, each on one thread. */
export function defaultDevices(cores: number): readonly DeviceSpec[] {
  const count = Math.max(1, Math.min(cores, MAX_DEVICES));
  const spec: DeviceSpec = { kind: "cpu", threads: 1, speed: 1, role: "host" };
  return Array.from({ length: count }, () => spec);
}
