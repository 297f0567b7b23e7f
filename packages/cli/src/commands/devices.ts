import { availableParallelism, cpus } from "node:os";
import { availableMemory } from "node:process";
import { nativeSupport, wasmSupport, type NativeSupport } from "@heterosgd/cpu-kernels";
import {
  defaultDevices,
  formatDevice,
  gpuSupport,
  type DeviceSummary,
  type GpujsDevice,
  type GpuSupport,
  type GpuTechnology,
} from "@heterosgd/trainer";
import { exitCodes, type ExitCode } from "../errors.js";
import { findGpujs } from "../gpujs.js";
import { measureDevices, probe, probeWords } from "../measure-devices.js";
import { gpuSpec, measureGpus, type MeasuredGpu } from "../measure-gpus.js";
import { formatBytes, formatCount } from "../output/format.js";
import type { Output } from "../output/output.js";
import { left, pairLines, right, tableLines } from "../output/table.js";

const technologies = ["cuda", "opencl"] as const satisfies readonly GpuTechnology[];

/** `heterosgd devices` */
export async function devicesCommand(output: Output): Promise<ExitCode> {
  const cores = availableParallelism();
  const model = cpus()[0]?.model.trim() ?? "unknown";
  output.say(`measuring ${cores} devices for ${probe.seconds} s, all at once`);
  const measured = await measureDevices(defaultDevices(cores));
  const supports = technologies.map((name) => [name, gpuSupport[name]()] as const);
  const gpujs = await findGpujs();
  const offered = [
    ...supports.flatMap(([, support]) => (support.available ? support.devices : [])),
    ...gpujs.devices,
  ];
  if (offered.length > 0) output.say(`measuring ${offered.map(({ name }) => name).join(", ")}`);
  const gpus = await measureGpus(offered, gpujs);

  const processor = `${model}, ${cores} cores usable`;
  for (const line of pairLines([
    ["processor", processor],
    ["memory", `${formatBytes(availableMemory())} free`],
  ])) {
    output.print(line);
  }
  output.print("");
  for (const line of deviceTable(measured)) output.print(line);
  if (gpus.length > 0) {
    output.print("");
    for (const line of gpuTable(gpus)) output.print(line);
  }
  output.print(`Measured with ${probeWords}.`);
  output.print("");
  const [native, wasm] = [nativeSupport(), wasmSupport()];
  for (const line of pairLines([
    ["native kernels", nativeWords(native)],
    ["wasm kernels", wasm.available ? "available" : lackWords(wasm)],
    ...supports.map(([name, support]) => [name, gpuWords(support)] as const),
    ...gpujs.devices.map((device) => [formatDevice(gpuSpec(device)), gpujsWords(device)] as const),
    ...gpujs.lacking.map((lack) => [`gpujs:${lack.mode}`, lackWords(lack)] as const),
    ...gpus.flatMap((gpu) => {
      const { reason } = gpu;
      return reason === null
        ? []
        : [[formatDevice(gpuSpec(gpu)), `can't be used: ${reason}`] as const];
    }),
  ])) {
    output.print(line);
  }

  output.document({
    processor: { model, cores },
    memory: { available: availableMemory() },
    devices: measured.map(({ name, kernels, rowsPerSecond }) => ({ name, kernels, rowsPerSecond })),
    gpus,
    probe,
    kernels: { native, wasm, ...Object.fromEntries(supports), gpujs },
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
}: {
  readonly reason: string;
  readonly remedy: string;
}): string {
  return `not available: ${reason}; ${remedy}`;
}

function deviceTable(devices: readonly DeviceSummary[]): readonly string[] {
  return tableLines(
    [left("device"), left("kernels"), right("rows/s")],
    devices.map(({ name, kernels, rowsPerSecond }) => [name, kernels, formatCount(rowsPerSecond)]),
  );
}

function gpuTable(gpus: readonly MeasuredGpu[]): readonly string[] {
  return tableLines(
    [left("device"), left("name"), left("kind"), left("kernels"), right("memory"), right("rows/s")],
    gpus.map((gpu) => [
      formatDevice(gpuSpec(gpu)),
      gpu.name,
      gpu.kind,
      gpu.kernels ?? "none",
      "memory" in gpu ? formatBytes(gpu.memory) : "not told",
      gpu.rowsPerSecond === null ? "none" : formatCount(gpu.rowsPerSecond),
    ]),
  );
}

/** Whether a GPU is at work in that mode. */
function gpujsWords({ mode, kind }: GpujsDevice): string {
  if (kind === "gpu") return "available";
  return mode === "headlessgl"
    ? "available, drawn by software: no GPU is at work"
    : "available, on the processor";
}

/** What a driver offers, or why not and what would help. */
function gpuWords(support: GpuSupport): string {
  if (!support.available) return lackWords(support);
  return `available; devices: ${support.devices.length}`;
}
