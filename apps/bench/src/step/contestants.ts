/** Who takes part in `bench step`: each is a process of its own. */
import { fileURLToPath } from "node:url";
import { ownFile } from "../own-files.js";

export interface Contestant {
  readonly name: string;
  readonly threads: number;
  readonly bf16: boolean;
  readonly ours: boolean;
  /** Whether it takes part only where it is named. */
  readonly onlyIfNamed: boolean;
  /** @param folder - of the data. */
  readonly command: (folder: string) => readonly [string, ...string[]];
  /** Added to the process's environment; undefined takes a variable away. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * What makes PyTorch as fast as it can be here. Its memory comes from glibc, which is told to use
 * huge pages and to give nothing back (newer versions of PyTorch do the former by
 * THP_MEM_ALLOC_ENABLE themselves); OpenMP's threads are told not to spin on cores that OpenBLAS's
 * own threads want; OpenBLAS chooses its kernels itself.
 */
export const torchEnvironment = {
  THP_MEM_ALLOC_ENABLE: "1",
  GLIBC_TUNABLES:
    "glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184",
  OMP_WAIT_POLICY: "PASSIVE",
  OPENBLAS_CORETYPE: undefined,
  OPENBLAS_L2_SIZE: undefined,
};

const torchDriver = fileURLToPath(ownFile("peers/torch-step.py"));

function ours(name: string, kernels: string, threads: number, bf16 = false): Contestant {
  const options = ["--kernels", kernels, "--threads", String(threads), ...(bf16 ? ["--bf16"] : [])];
  return {
    name,
    threads,
    bf16,
    ours: true,
    onlyIfNamed: kernels === "plain",
    command: (folder) => [process.execPath, process.argv[1]!, "step-worker", folder, ...options],
    environment: {},
  };
}

function torch(name: string, python: string, threads: number, bf16 = false): Contestant {
  const options = [String(threads), ...(bf16 ? ["--bf16"] : [])];
  return {
    name,
    threads,
    bf16,
    ours: false,
    onlyIfNamed: false,
    command: (folder) => [python, torchDriver, folder, ...options],
    environment: torchEnvironment,
  };
}

/**
 * A GPU on the kernels of its technology.
 *
 * @param device - such as `cuda:0`.
 */
export function gpuContestant(
  device: string,
  name: string,
  environment: Readonly<Record<string, string>>,
): Contestant {
  return { ...ours(name, device, 1), environment };
}

/** The kernels of the processor that a GPU is compared with, on one thread. */
export function processorContestants(): readonly Contestant[] {
  return [ours("plain", "plain", 1), ours("native", "native", 1)];
}

/**
 * PyTorch on a GPU: in float32, and by products that are rounded, which tensor cores do.
 *
 * @param device - as PyTorch names it.
 */
export function torchGpuContestants(python: string, device: string): readonly Contestant[] {
  const on = (name: string, options: readonly string[], rounds: boolean): Contestant => {
    const { command, ...others } = torch(name, python, 1);
    const all = (folder: string) => [...command(folder), "--device", device, ...options] as const;
    return { ...others, bf16: rounds, command: all };
  };
  return [
    on("torch", [], false),
    on("torch-tf32", ["--tf32"], true),
    on("torch-bf16", ["--bf16"], true),
  ];
}

/** @param python - the interpreter that has PyTorch. */
export function stepContestants(python: string): readonly Contestant[] {
  return [
    torch("torch", python, 1),
    torch("torch-2-threads", python, 2),
    torch("torch-bf16", python, 1, true),
    torch("torch-bf16-2-threads", python, 2, true),
    ours("plain", "plain", 1),
    ours("wasm", "wasm", 1),
    ours("native", "native", 1),
    ours("native-2-threads", "native", 2),
    ours("native-bf16", "native", 1, true),
    ours("native-bf16-2-threads", "native", 2, true),
  ];
}

/**
 * Those named, or all that need no naming.
 *
 * @throws Error for a name that nobody has.
 */
export function chooseContestants(
  all: readonly Contestant[],
  names: readonly string[] | undefined,
): readonly Contestant[] {
  if (names === undefined) return all.filter(({ onlyIfNamed }) => !onlyIfNamed);
  const unknown = names.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined) {
    throw new Error(
      `there is no "${unknown}"; there are ${all.map(({ name }) => name).join(", ")}`,
    );
  }
  return all.filter(({ name }) => names.includes(name));
}
