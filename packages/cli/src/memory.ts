/** Whether a run fits into the memory that there is, and what to do where it does not. */
import { wasmMemoryBytes } from "@heterosgd/cpu-kernels";
import {
  formatDevice,
  type GpuMemory,
  type MemoryEstimate,
  type Profile,
} from "@heterosgd/trainer";
import type { DecidedConfig } from "./config/complete.js";
import { CliError } from "./errors.js";
import { counted, formatBytes, formatCount } from "./output/format.js";
import { planRun, type Plan } from "./plan.js";

/** What a run's memory is for, in words, and bytes; what it has none of is left out. */
export function memoryParts(memory: MemoryEstimate): readonly (readonly [string, number])[] {
  const ofDevices = (part: "models" | "work") =>
    memory.devices.reduce((sum, device) => sum + device[part], 0);
  const parts: readonly (readonly [string, number])[] = [
    ["the program", memory.process + memory.heap],
    ["data", memory.trainData + memory.evaluationData],
    ["row order", memory.permutations],
    ["the global model", memory.globalModels],
    ["models of devices", ofDevices("models")],
    ["work of devices", ofDevices("work")],
    ["threads", memory.threads],
    ["copies for checkpoints", memory.checkpoints],
    ["the simulation", memory.simulation],
  ];
  return parts.filter(([, bytes]) => bytes > 0);
}

/** What devices with memory of their own take of it, by the name that each has in the list. */
export function deviceMemory({
  options,
  memory,
}: Pick<Plan, "options" | "memory">): readonly (GpuMemory & { readonly name: string })[] {
  return memory.devices.flatMap(({ device, own }) =>
    own === null ? [] : [{ name: formatDevice(options.devices[device]!), ...own }],
  );
}

/** A line for each device whose memory has no room for batches of the size that is wanted. */
export function loweredBatches(plan: Plan): readonly string[] {
  return deviceMemory(plan).flatMap(({ name, room, loweredTo }) =>
    loweredTo === null || room === null
      ? []
      : [
          `${name} gets batches of at most ${counted(loweredTo, "row")}, not ${formatCount(plan.options.policy.maxBatchRows)}: ` +
            `its memory has ${formatBytes(room)} for the run`,
        ],
  );
}

/** Bytes that the run will take on top of what the process holds, the data among it. */
export function bytesToTake({
  process,
  trainData,
  evaluationData,
  training,
}: MemoryEstimate): number {
  return training - process - trainData - evaluationData;
}

/**
 * Refuses a run that will not fit into the memory that is free, or that its kernels can reach.
 *
 * @param available - free bytes, in the container where there is one.
 * @throws CliError NOT_ENOUGH_MEMORY
 */
export function checkMemory(plan: Plan, available: number): void {
  const { wasm, training } = plan.memory;
  if (wasm !== null && wasm > wasmMemoryBytes) {
    const reached = ({ memory }: Plan) => memory.wasm ?? 0;
    throw new CliError(
      "NOT_ENOUGH_MEMORY",
      `the models and what they are trained in need ${formatBytes(wasm)}, but kernels in WebAssembly reach ${formatBytes(wasmMemoryBytes)}`,
      {
        hint: `take native kernels (--kernels native); ${smaller(plan, reached, wasmMemoryBytes)}`,
      },
    );
  }
  const bytes = bytesToTake(plan.memory);
  if (bytes <= available) return;
  const most = memoryParts(plan.memory)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([what, size]) => `${what} ${formatBytes(size)}`);
  throw new CliError(
    "NOT_ENOUGH_MEMORY",
    `the run needs ${formatBytes(bytes)} more than its data, but ${formatBytes(available)} are free; ` +
      `of ${formatBytes(training)} in all it takes most for ${most.join(", ")}`,
    { hint: smaller(plan, ({ memory }) => bytesToTake(memory), available) },
  );
}

/** An option that may make a run smaller, as it would be given. */
interface Change {
  readonly flags: string;
  readonly config: Partial<DecidedConfig>;
}

function changesTo({ config, simulation, options }: Plan): readonly Change[] {
  const changes: Change[] = [];
  if (options.rule !== null) {
    changes.push({ flags: "--optimizer sgd", config: { optimizer: "sgd" } });
  }
  const [device, ...others] = config.devices.split(",");
  if (simulation === null && others.length > 0) {
    changes.push({ flags: `--devices ${device}`, config: { devices: device! } });
  }
  if (config.hidden.some((units) => units > 1)) {
    const hidden = config.hidden.map((units) => Math.ceil(units / 2));
    changes.push({ flags: `--hidden ${hidden.join(",")}`, config: { hidden } });
  }
  if (config.checkpointEvery !== "never") {
    changes.push({ flags: "--checkpoint-every never", config: { checkpointEvery: "never" } });
  }
  return changes;
}

/**
 * Which options make a run smaller, and by how much.
 *
 * @param need - what of a plan has to fit into `room` bytes.
 */
function smaller(plan: Plan, need: (plan: Plan) => number, room: number): string {
  const now = need(plan);
  const profile = plan.simulation?.profile ?? null;
  const changes = changesTo(plan)
    .map((change) => ({ ...change, bytes: needWith(plan, change, need, profile) }))
    .filter(({ bytes }) => bytes < 0.99 * now)
    .toSorted((a, b) => a.bytes - b.bytes);
  if (changes.length === 0) return "take a smaller part of the data";
  const each = changes.map(({ flags, bytes }) => `${flags} needs ${formatBytes(bytes)}`).join(", ");
  if (changes.length === 1 || changes[0]!.bytes <= room) return each;
  const all = {
    flags: changes.map(({ flags }) => flags).join(" "),
    config: Object.assign({}, ...changes.map(({ config }) => config)) as Partial<DecidedConfig>,
  };
  return `${each}, all of it together ${formatBytes(needWith(plan, all, need, profile))}`;
}

function needWith(
  plan: Plan,
  { config }: Change,
  need: (plan: Plan) => number,
  profile: Profile | null,
): number {
  try {
    return need(planRun({ ...plan.config, ...config }, plan.data, profile, plan.options.gpujs));
  } catch {
    // The algorithm has no use for fewer devices, say: it is no way out then.
    return Infinity;
  }
}
