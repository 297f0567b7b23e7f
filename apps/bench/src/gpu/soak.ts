/** Thousands of steps on one device, with what merges and evaluations do in between: whether anything grows. */
import {
  createNetwork,
  createTopK,
  initialise,
  parameterLayout,
  type UpdateRule,
} from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { collectGarbage } from "@heterosgd/trainer";
import { madeUpBatch } from "../made-up-batches.js";
import { trendOf, type Sample, type Trend } from "../soak/trend.js";
import { processMemory } from "../step/process-memory.js";
import { openCudaDriver } from "./cuda-driver.js";
import { openDeviceKernels, type DeviceRef } from "./open-kernels.js";

export interface SoakSizes {
  readonly features: number;
  readonly hidden: number;
  readonly labels: number;
  /** Of the largest batch; the others are of any size below. */
  readonly rows: number;
}

export interface SoakInput {
  readonly device: DeviceRef;
  readonly steps: number;
  readonly sizes: SoakSizes;
}

export interface SoakResult extends SoakInput {
  readonly seconds: number;
  /** Mean loss of a row in the first and in the last tenth of the steps. */
  readonly losses: readonly [first: number, last: number];
  /** Bytes of this process's resident memory. */
  readonly resident: Trend;
  /** Bytes of the device's memory that are taken, as its driver tells; null where it does not. */
  readonly taken: Trend | null;
  /** Bytes that the kernels hold for their own work, in the middle and at the end. */
  readonly work: readonly [middle: number, last: number];
  /** What is left in the stand-in's memory when the kernels are closed; null of real drivers. */
  readonly leftBehind: number | null;
}

/** Looks at memory, as many as a trend wants and some more. */
const LOOKS = 150;
/** Steps between what a merge and an evaluation do. */
const MERGE_EVERY = 20;
/** This part of the steps, in which buffers and the interpreter's heap come to their size, does not count. */
const WARM_UP = 0.25;
const LEAST_STEPS = Math.ceil(LOOKS / (1 - WARM_UP));
const BATCHES = 16;
const NON_ZEROS = 20;
const TOP = 5;
const adam: UpdateRule = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** @throws RangeError for so few steps that nothing could be seen */
export async function soak(input: SoakInput): Promise<SoakResult> {
  const { device, steps, sizes } = input;
  const every = Math.floor(((1 - WARM_UP) * steps) / LOOKS);
  if (every < 1) throw new RangeError(`a soak takes at least ${LEAST_STEPS} steps, not ${steps}`);
  const { features, hidden, labels, rows: maxRows } = sizes;
  const { kernels, workBytes } = openDeviceKernels(device);
  const cuda = device.technology === "cuda" ? openCudaDriver() : null;
  const layout = parameterLayout({
    features,
    hidden: [hidden],
    labels,
    activation: "relu",
    loss: "softmax",
  });
  const network = createNetwork(kernels, layout, { maxRows });
  const allocate = () => kernels.allocate(layout.length);
  const [replica, merged, state] = [allocate(), allocate(), [allocate(), allocate()]];
  const host = new Float32Array(layout.length);
  initialise(layout, host, 1);
  kernels.write(host, replica);
  const random = createRandom(1);
  const batches = Array.from({ length: BATCHES }, (_, i) => {
    const rows = i === 0 ? maxRows : 1 + random.nextBelow(maxRows);
    const shape = { rows, features, classes: labels, nonZeros: NON_ZEROS };
    return madeUpBatch(random, { ...shape, draw: "log-uniform" });
  });
  const top = createTopK(maxRows, TOP);
  const resident: Sample[] = [];
  const taken: Sample[] = [];
  const losses: number[] = [];
  let middle = 0;
  const began = performance.now();
  for (let step = 1; step <= steps; step++) {
    const batch = batches[step % BATCHES]!;
    const { rows } = batch;
    const uploaded = kernels.upload(batch, step % 2 === 0 ? 0 : 1);
    const rule = { kind: "rule", rule: adam, learningRate: 1e-3, step, state } as const;
    const target = { ...rule, target: replica, scale: 1 / rows };
    losses.push((await network.train(uploaded, rows, replica, target)) / rows);
    if (step % MERGE_EVERY === 0) {
      await kernels.read(replica, host);
      kernels.write(host, merged);
      kernels.blend(replica, [
        { coefficient: 0.5, source: replica },
        { coefficient: 0.5, source: merged },
      ]);
      await network.predict(uploaded, rows, replica, TOP, top);
    }
    if (step === Math.round(steps / 2)) middle = workBytes();
    if (step % every !== 0 || step < WARM_UP * steps) continue;
    await collectGarbage();
    const at = (performance.now() - began) / 1000;
    resident.push({ at, value: processMemory().now });
    const bytes = cuda?.standInUse?.().bytes ?? cuda?.takenBytes() ?? null;
    if (bytes !== null) taken.push({ at, value: bytes });
  }
  const seconds = (performance.now() - began) / 1000;
  const work = [middle, workBytes()] as const;
  await kernels.dispose();
  const tenth = Math.max(1, Math.floor(steps / 10));
  return {
    ...input,
    seconds,
    losses: [meanOf(losses.slice(0, tenth)), meanOf(losses.slice(-tenth))],
    resident: trendOf(resident),
    taken: taken.length === 0 ? null : trendOf(taken),
    work,
    leftBehind: cuda?.standInUse?.().bytes ?? null,
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
