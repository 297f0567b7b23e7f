/**
 * Each part of `bench gpu` that opens a device runs in a process of its own: what a driver breaks or never comes back
 * from is then one failure among the results.
 */
import { once } from "node:events";
import { spawn } from "node:child_process";
import { conformance } from "./conformance.js";
import { gist } from "./gist.js";
import { kernelTimes } from "./kernel-times.js";
import { openDeviceKernels, type DeviceRef } from "./open-kernels.js";
import { soak } from "./soak.js";

/** What runs in a worker: takes and gives what JSON can hold. */
const parts = { name: nameOf, conformance, kernels: kernelTimes, soak } as const;

type Parts = typeof parts;
export type PartName = keyof Parts;

/** What the kernels of a device are called, which tells whether cuBLAS has a part in them. */
async function nameOf({ device }: { readonly device: DeviceRef }): Promise<string> {
  const { kernels } = openDeviceKernels(device);
  await kernels.dispose();
  return kernels.name;
}

/** The hidden command `gpu-worker`. */
export async function gpuWorker(name: PartName, input: string): Promise<void> {
  const run = parts[name] as (input: unknown) => Promise<unknown>;
  const result = await run(JSON.parse(input));
  console.log(JSON.stringify({ result }));
}

/**
 * Runs a part in a process of its own.
 *
 * @param environment - added to this process's.
 * @param signal - kills it.
 * @throws Error with what it complained of, or the signal's reason
 */
export async function runPart<Name extends PartName>(
  name: Name,
  input: Parameters<Parts[Name]>[0],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Parts[Name]>>> {
  signal.throwIfAborted();
  const args = [process.argv[1]!, "gpu-worker", name, JSON.stringify(input)];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  let output = "";
  let complaints = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  try {
    const [code, killed] = (await once(child, "close")) as [number | null, string | null];
    signal.throwIfAborted();
    if (code !== 0) {
      throw new Error(`ended (${code ?? killed}): ${gist(complaints) || "without a word"}`);
    }
    const { result } = JSON.parse(output) as { result: Awaited<ReturnType<Parts[Name]>> };
    return result;
  } finally {
    signal.removeEventListener("abort", kill);
  }
}
