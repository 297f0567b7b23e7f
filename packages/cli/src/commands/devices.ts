import { availableParallelism, cpus } from "node:os";
import { availableMemory } from "node:process";
import {
  nativeSupport,
  wasmSupport,
  type NativeSupport,
  type WasmSupport,
} from "@heterosgd/cpu-kernels";
import { uniformMerge } from "@heterosgd/merge";
import { adaptiveSgd, type Policy } from "@heterosgd/scheduler";
import { allocateShared, createRandom, createDatasetBuilder } from "@heterosgd/sparse";
import { defaultDevices, train, type DeviceSummary } from "@heterosgd/trainer";
import type { SharedDataset } from "../data.js";
import { exitCodes, type ExitCode } from "../errors.js";
import { formatBytes, formatCount } from "../output/format.js";
import type { Output } from "../output/output.js";
import { left, pairLines, right, tableLines } from "../output/table.js";

/** The step that devices are measured by. */
const probe = {
  rows: 2048,
  features: 20_000,
  valuesPerRow: 50,
  hidden: 128,
  labels: 1000,
  labelsPerRow: 3,
  batchRows: 128,
  seconds: 1,
} as const;

const probeWords =
  `${probe.features.toLocaleString("en-US")} features (${probe.valuesPerRow} a row), ` +
  `${probe.hidden} hidden units, ${probe.labels.toLocaleString("en-US")} labels, batches of ${probe.batchRows}`;

/** Why kinds of devices that people ask for are not there. */
const otherKinds = [{ kind: "gpu", reason: "this version has no GPU kernels" }] as const;

/** `heterosgd devices` */
export async function devicesCommand(output: Output): Promise<ExitCode> {
  const cores = availableParallelism();
  const model = cpus()[0]?.model.trim() ?? "unknown";
  output.say(`measuring ${cores} devices for ${probe.seconds} s, all at once`);
  const measured = await measure(cores);

  const processor = `${model}, ${cores} cores usable`;
  for (const line of pairLines([
    ["processor", processor],
    ["memory", `${formatBytes(availableMemory())} free`],
  ])) {
    output.print(line);
  }
  output.print("");
  for (const line of deviceTable(measured)) output.print(line);
  output.print(`Measured with ${probeWords}.`);
  output.print("");
  const [native, wasm] = [nativeSupport(), wasmSupport()];
  for (const line of pairLines([
    ["native kernels", nativeWords(native)],
    ["wasm kernels", wasm.available ? "available" : lackWords(wasm)],
    ...otherKinds.map(({ kind, reason }) => [kind, `not available: ${reason}`] as const),
  ])) {
    output.print(line);
  }

  output.document({
    processor: { model, cores },
    memory: { available: availableMemory() },
    devices: measured.map(({ name, kernels, rowsPerSecond }) => ({ name, kernels, rowsPerSecond })),
    probe,
    kernels: { native, wasm },
    unavailable: otherKinds,
  });
  return exitCodes.done;
}

/** What the addon can do here, or why it is not there and what would help. */
function nativeWords(support: NativeSupport): string {
  if (!support.available) return lackWords(support);
  const { isas, bf16 } = support;
  return `${isas.join(", ")}; products in bfloat16 (--bf16): ${bf16 ? "yes" : "no"}`;
}

function lackWords({
  reason,
  remedy,
}: (NativeSupport | WasmSupport) & { readonly available: false }): string {
  return `not available: ${reason}; ${remedy}`;
}

function deviceTable(devices: readonly DeviceSummary[]): readonly string[] {
  return tableLines(
    [left("device"), left("kernels"), right("rows/s")],
    devices.map(({ name, kernels, rowsPerSecond }) => [name, kernels, formatCount(rowsPerSecond)]),
  );
}

/** Trains on made-up rows for a moment, every default device at once, as in a run. */
async function measure(cores: number): Promise<readonly DeviceSummary[]> {
  const policy: Policy = adaptiveSgd({
    epochs: Infinity,
    schedule: { kind: "constant", rate: 0.01 },
    merge: uniformMerge(),
    batch: { max: probe.batchRows },
    batchScaling: { rule: "off" },
    evaluateEvery: "never",
  });
  const { devices } = await train({
    train: probeData(),
    evaluation: null,
    shape: {
      features: probe.features,
      hidden: [probe.hidden],
      labels: probe.labels,
      activation: "relu",
      loss: "softmax",
    },
    rule: null,
    devices: defaultDevices(cores),
    policy,
    seed: 1,
    maxSeconds: probe.seconds,
  });
  return devices;
}

function probeData(): SharedDataset {
  const random = createRandom(1);
  const distinct = (count: number, bound: number) => {
    const chosen = new Set<number>();
    while (chosen.size < count) chosen.add(random.nextBelow(bound));
    return [...chosen];
  };
  const builder = createDatasetBuilder({ features: probe.features, labels: probe.labels });
  for (let i = 0; i < probe.rows; i++) {
    builder.addRow({
      features: distinct(probe.valuesPerRow, probe.features).map((index) => [index, 1] as const),
      labels: distinct(probe.labelsPerRow, probe.labels),
    });
  }
  return builder.finish(allocateShared);
}
