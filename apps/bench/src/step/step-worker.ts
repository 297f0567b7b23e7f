/** The process in which `bench step` measures heterosgd: a network over one kind of kernels. */
import { createInterface } from "node:readline";
import {
  createNativeKernels,
  createWasmKernels,
  nativeKernelsBytes,
  wasmKernelsBytes,
  type NativeKernelsOptions,
} from "@heterosgd/cpu-kernels";
import { createGpuKernels, gpuKernelsBytes } from "@heterosgd/gpu-kernels";
import {
  createNetwork,
  createPlainKernels,
  networkBytes,
  plainKernelsBytes,
  type Batch,
  type DeviceArray,
  type Kernels,
  type ParameterLayout,
} from "@heterosgd/model";
import { nonZerosOf } from "../made-up-batches.js";
import { processMemory } from "./process-memory.js";
import type {
  MemoryAnswer,
  MemoryQuestion,
  Ready,
  StepsAnswer,
  StepsQuestion,
  Unable,
} from "./protocol.js";
import { readStepData } from "./step-data.js";

export interface StepWorkerOptions {
  /** `plain`, `wasm`, `native`, or a GPU as in `cuda:0` and `opencl:1`. */
  readonly kernels: string;
  readonly threads?: number;
  readonly bf16?: boolean;
}

/** The largest batch, as kernels want to know it. */
interface Limits {
  readonly maxRows: number;
  readonly maxNonZeros: number;
  readonly maxLabels: number;
  readonly optimizer: null;
}

interface Chosen {
  readonly create: () => Kernels<DeviceArray, unknown>;
  /** Bytes that they say they keep. */
  readonly bytes: (layout: ParameterLayout, limits: Limits) => number;
}

function choose({ kernels, threads = 1, bf16 = false }: StepWorkerOptions): Chosen {
  const gpu = /^(cuda|opencl):(\d+)$/u.exec(kernels);
  if (gpu !== null) {
    const technology = gpu[1] as "cuda" | "opencl";
    const index = Number(gpu[2]);
    return { create: () => createGpuKernels({ technology, index }), bytes: gpuKernelsBytes };
  }
  switch (kernels) {
    case "plain":
      return { create: () => createPlainKernels(), bytes: plainKernelsBytes };
    case "wasm":
      return {
        create: () => createWasmKernels(),
        bytes: (layout, limits) => wasmKernelsBytes(layout, { ...limits, options: {} }),
      };
    case "native": {
      const options: NativeKernelsOptions = { threads, bf16 };
      return {
        create: () => createNativeKernels(options),
        bytes: (layout, limits) => nativeKernelsBytes(layout, { ...limits, options }),
      };
    }
    default:
      throw new Error(
        `there are no kernels "${kernels}"; there are plain, wasm, native, cuda:0, opencl:0`,
      );
  }
}

/** Answers questions until the input ends. */
export async function stepWorker(folder: string, options: StepWorkerOptions): Promise<void> {
  const chosen = choose(options);
  const say = (line: Ready | Unable | StepsAnswer | MemoryAnswer) =>
    console.log(JSON.stringify(line));
  let kernels: Kernels<DeviceArray, unknown>;
  try {
    kernels = chosen.create();
  } catch (error) {
    say({ missing: error instanceof Error ? error.message : String(error) });
    return;
  }
  const { now: baseline } = processMemory();
  const { layout, batches, readParameters } = readStepData(folder);
  const limits: Limits = {
    maxRows: batches[0]!.rows,
    maxNonZeros: Math.max(...batches.map(nonZerosOf)),
    maxLabels: Math.max(...batches.map(({ labels }) => labels.length)),
    optimizer: null,
  };
  const network = createNetwork(kernels, layout, { maxRows: limits.maxRows });
  const parameters = kernels.allocate(layout.length);
  // Kernels that share memory have arrays that are read into in place.
  if (kernels.sharesMemory) readParameters(parameters as Float32Array);
  else {
    const host = new Float32Array(layout.length);
    readParameters(host);
    kernels.write(host, parameters);
  }
  const documented = networkBytes(layout, limits).total + chosen.bytes(layout, limits);
  say({ ready: kernels.name, documented });

  let turn = 0;
  /** One step after the other; while one runs, the batch of the next is uploaded. */
  const takeSteps = async ({ steps, batch, learningRate }: StepsQuestion): Promise<number[]> => {
    const losses: number[] = [];
    const upload = (step: number): readonly [uploaded: unknown, rows: number] => {
      const next: Batch = batches[batch ?? turn++ % batches.length]!;
      return [kernels.upload(next, step % 2 === 0 ? 0 : 1), next.rows];
    };
    let next = upload(0);
    for (let step = 1; step <= steps; step++) {
      const [uploaded, rows] = next;
      const scale = -learningRate / rows;
      const target = { kind: "add", target: parameters, scale } as const;
      const loss = network.train(uploaded, rows, parameters, target);
      if (step < steps) next = upload(step);
      losses.push((await loss) / rows);
    }
    return losses;
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const question = JSON.parse(line) as StepsQuestion | MemoryQuestion;
    if ("memory" in question) {
      say({ baseline, peak: processMemory().peak });
      continue;
    }
    const beganCpu = process.cpuUsage();
    const began = performance.now();
    const losses = await takeSteps(question);
    const wall = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(beganCpu);
    say({ wall, cpu: (user + system) / 1e6, losses });
  }
  await kernels.dispose();
}
