// @ts-check
// Looks at gpu.js on headless-gl for longer than tests do, after a build: whether memory stays flat over many steps,
// whether it is opened and closed in two workers at once without a crash, and how long a step takes beside the
// plain kernels. Needs a display: `xvfb-run -a node packages/gpu-kernels/scripts/check-gpujs.mjs [STEPS [CYCLES]]`.
import { once } from "node:events";
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { createNetwork, createPlainKernels, initialise, parameterLayout } from "@heterosgd/model";
import { gpujsSupport, openGpujsKernels } from "../dist/index.js";

const layout = parameterLayout({
  features: 20_000,
  hidden: [64],
  labels: 2000,
  activation: "relu",
  loss: "softmax",
});
const rows = 64;
const nonZeros = 40;

/** Another batch for each step. @param {number} step */
function batchOf(step) {
  const features = layout.shape.features / nonZeros;
  return {
    rows,
    offsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row * nonZeros),
    indices: Uint32Array.from(
      { length: rows * nonZeros },
      (_, i) => (i % nonZeros) * features + ((i * 31 + step * 7) % features),
    ),
    values: new Float32Array(rows * nonZeros).fill(0.16),
    labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row),
    labels: Uint32Array.from({ length: rows }, (_, row) => (row * 17 + step) % layout.shape.labels),
  };
}

/**
 * @template {import("@heterosgd/model").DeviceArray} A
 * @template U
 * @param {import("@heterosgd/model").Kernels<A, U>} kernels
 */
function trainer(kernels) {
  const network = createNetwork(kernels, layout, { maxRows: rows });
  const weights = kernels.allocate(layout.length);
  const initial = new Float32Array(layout.length);
  initialise(layout, initial, 1);
  kernels.write(initial, weights);
  /** @type {import("@heterosgd/model").FlatGradientTarget<A>} */
  const sgd = { kind: "add", target: weights, scale: -0.5 / rows };
  /** @param {number} step */
  return (step) =>
    network.train(kernels.upload(batchOf(step), step % 2 === 0 ? 0 : 1), rows, weights, sgd);
}

const mebibytes = (/** @type {number} */ bytes) => (bytes / 2 ** 20).toFixed(1);
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
const median = (/** @type {readonly number[]} */ values) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

async function openAndClose() {
  const kernels = await openGpujsKernels({ mode: "headlessgl" });
  const train = trainer(kernels);
  const losses = [await train(0), await train(1)];
  await kernels.dispose();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(losses);
}

/** @param {number} cycles */
async function cycleInWorkers(cycles) {
  const run = async () => {
    const worker = new Worker(new URL(import.meta.url));
    const [[losses], [code]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
    return JSON.stringify({ losses, code });
  };
  const results = new Map();
  for (let i = 0; i < cycles; i++) {
    for (const one of await Promise.all([run(), run()]))
      results.set(one, (results.get(one) ?? 0) + 1);
    if (i % 10 === 0) say(`  cycle ${i}: ${mebibytes(process.memoryUsage.rss())} MiB`);
  }
  for (const [result, count] of results) say(`  ${count} times ${result}`);
}

/** @param {number} steps */
async function soak(steps) {
  const kernels = await openGpujsKernels({ mode: "headlessgl" });
  const plain = createPlainKernels();
  const trainers = [
    { name: kernels.name, train: trainer(kernels) },
    { name: plain.name, train: trainer(plain) },
  ];
  /** @type {number[][]} */
  const times = [[], []];
  for (let step = 0; step < steps; step++) {
    // The plain kernels beside every tenth step.
    for (const [i, { train }] of trainers.entries()) {
      if (i === 1 && step % 10 !== 0) continue;
      const started = performance.now();
      await train(step);
      times[i]?.push(performance.now() - started);
    }
    if (step === 20 || (step + 1) % (steps / 5) === 0) {
      const { blocks, bytes } = await kernels.deviceUse();
      const use = `${blocks} textures of ${mebibytes(bytes)} MiB`;
      say(`  step ${step + 1}: ${use}, process ${mebibytes(process.memoryUsage.rss())} MiB`);
    }
  }
  for (const [i, { name }] of trainers.entries()) {
    const own = (times[i] ?? []).slice(2);
    say(
      `  ${name}: least ${Math.min(...own).toFixed(1)} ms, median ${median(own).toFixed(1)} ms a step`,
    );
  }
  await kernels.dispose();
}

if (isMainThread) {
  const [steps = 2000, cycles = 50] = process.argv.slice(2).map(Number);
  const { devices, lacking } = await gpujsSupport();
  const [device] = devices;
  if (device?.mode !== "headlessgl") {
    say(`There is no headless-gl: ${lacking[0]?.reason}; ${lacking[0]?.remedy}`);
    process.exitCode = 1;
  } else {
    say(`gpu.js on ${device.name}, a renderer on a ${device.kind}`);
    say(
      `${layout.shape.features} features, 64 units, ${layout.shape.labels} labels, ${rows} rows of ${nonZeros}`,
    );
    say(`${cycles} times opened and closed in two workers at once`);
    await cycleInWorkers(cycles);
    say(`${steps} steps`);
    await soak(steps);
  }
} else {
  await openAndClose();
}
