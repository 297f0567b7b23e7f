/** The process in which `bench step` measures heterosgd: a network over one kind of kernels. */
import { createInterface } from "node:readline";
import {
  createNativeKernels,
  createWasmKernels,
  nativeKernelsBytes,
  wasmKernelsBytes,
  type NativeKernelsOptions,
} from "@heterosgd/cpu-kernels";
import {
  createNetwork,
  createPlainKernels,
  networkBytes,
  plainKernelsBytes,
  type Batch,
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
  /** `plain`, `wasm` or `native`. */
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
  readonly create: () => Kernels;
  /** Bytes that they say they keep. */
  readonly bytes: (layout: ParameterLayout, limits: Limits) => number;
}

function choose({ kernels, threads = 1, bf16 = false }: StepWorkerOptions): Chosen {
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
      throw new Error(`there are no kernels "${kernels}"; there are plain, wasm, native`);
  }
}

/** Answers questions until the input ends. */
export async function stepWorker(folder: string, options: StepWorkerOptions): Promise<void> {
  const chosen = choose(options);
  const say = (line: Ready | Unable | StepsAnswer | MemoryAnswer) =>
    console.log(JSON.stringify(line));
  let kernels: Kernels;
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
  readParameters(parameters);
  const documented = networkBytes(layout, limits).total + chosen.bytes(layout, limits);
  say({ ready: kernels.name, documented });

  let turn = 0;
  const step = async (batch: Batch, slot: 0 | 1, learningRate: number): Promise<number> => {
    const { rows } = batch;
    const scale = -learningRate / rows;
    const target = { kind: "add", target: parameters, scale } as const;
    return (await network.train(kernels.upload(batch, slot), rows, parameters, target)) / rows;
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const question = JSON.parse(line) as StepsQuestion | MemoryQuestion;
    if ("memory" in question) {
      say({ baseline, peak: processMemory().peak });
      continue;
    }
    const losses: number[] = [];
    const beganCpu = process.cpuUsage();
    const began = performance.now();
    for (let i = 0; i < question.steps; i++) {
      const number = question.batch ?? turn++ % batches.length;
      losses.push(await step(batches[number]!, i % 2 === 0 ? 0 : 1, question.learningRate));
    }
    const wall = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(beganCpu);
    say({ wall, cpu: (user + system) / 1e6, losses });
  }
  await kernels.dispose();
}
