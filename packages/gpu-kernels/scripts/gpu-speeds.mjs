// @ts-check
/**
 * Times operations of the kernels on a made-up network of one hidden layer, each until it is done on the
 * device.
 */
import { createNetwork, initialise, layersOf, parameterLayout } from "@heterosgd/model";

/** As in the text data sets of the field. */
const features = 100_000;
const hidden = 128;
const nonZeros = 75;
const rounds = 15;

/**
 * @typedef {object} Speed
 * @property {string} operation
 * @property {number[]} ms of each round
 * @property {number} flops
 * @property {number} bytes of memory that it has to touch, at least
 */

/**
 * @param {() => import("../dist/index.js").GpuKernels} create
 * @param {{ labels: number, rows: number }} sizes
 * @returns {Promise<{ title: string, speeds: Speed[], losses: [number, number] }>}
 */
export async function createMeasurement(create, { labels, rows }) {
  const layout = parameterLayout({
    features,
    hidden: [hidden],
    labels,
    activation: "relu",
    loss: "softmax",
  });
  const kernels = create();
  try {
    const replica = kernels.allocate(layout.length);
    const other = kernels.allocate(layout.length);
    const initial = new Float32Array(layout.length);
    initialise(layout, initial, 1);
    kernels.write(initial, replica);
    kernels.write(initial, other);
    const network = createNetwork(kernels, layout, { maxRows: rows });
    const layers = layersOf(kernels, layout, replica);
    const [first, last] = [layers[0], layers.at(-1)];
    if (first === undefined || last === undefined) throw new Error("a network without layers");
    const batch = madeUpBatch(rows, labels);
    const entries = batch.indices.length;
    const [out, dHidden] = [kernels.allocate(rows * hidden), kernels.allocate(rows * hidden)];
    const losses = kernels.allocate(rows);
    const loss = new Float32Array(1);
    const finish = () => kernels.read(kernels.view(losses, 0, 1), loss);

    const uploaded = kernels.upload(batch, 0);
    /** @param {import("@heterosgd/model").LayerArrays<import("../dist/index.js").GpuArray>} target */
    const sgd = (target) => /** @type {const} */ ({ kind: "add", target, scale: -1e-6 });
    const flat = /** @type {const} */ ({ kind: "add", target: replica, scale: -0.5 / rows });
    const before = await network.loss(uploaded, rows, replica);

    const ids = new Uint32Array(5 * rows);
    const [logits, logSumExp] = [new Float32Array(5 * rows), new Float32Array(rows)];
    const matrix = 4 * labels * hidden;
    const product = 2 * rows * labels * hidden;
    /** @type {[operation: string, run: () => unknown, flops: number, bytes: number][]} */
    const operations = [
      ["step", () => network.train(uploaded, rows, replica, flat), 3 * product, 3 * matrix],
      // The gather waits for the upload, which nothing else does.
      [
        "upload, gather",
        () => kernels.gather(kernels.upload(batch, 1), first, "relu", out),
        2 * entries * hidden,
        8 * entries + 4 * entries * hidden,
      ],
      [
        "gather",
        () => kernels.gather(uploaded, first, "relu", out),
        2 * entries * hidden,
        4 * entries * hidden,
      ],
      [
        "output, gradient",
        () => kernels.output(uploaded, out, last, "softmax", sgd(last), dHidden, losses),
        3 * product,
        3 * matrix,
      ],
      [
        "scatter",
        () => kernels.scatter(uploaded, first, "relu", out, dHidden, sgd(first)),
        2 * entries * hidden,
        8 * entries * hidden,
      ],
      ["top 5", () => kernels.topK(rows, out, last, 5, ids, logits, logSumExp), product, matrix],
      [
        "blend of 2",
        () =>
          kernels.blend(replica, [
            { coefficient: 0.5, source: replica },
            { coefficient: 0.5, source: other },
          ]),
        3 * layout.length,
        12 * layout.length,
      ],
      ["read all", () => kernels.read(replica, initial), 0, 4 * layout.length],
      ["write all", () => kernels.write(initial, replica), 0, 4 * layout.length],
    ];
    /** @type {Speed[]} */
    const speeds = [];
    for (const [operation, run, flops, bytes] of operations) {
      const ms = [];
      for (let round = -3; round < rounds; round++) {
        await finish();
        const start = performance.now();
        await run();
        await finish();
        if (round >= 0) ms.push(performance.now() - start);
      }
      speeds.push({ operation, ms, flops, bytes });
    }
    for (let step = 0; step < 20; step++) await network.train(uploaded, rows, replica, flat);
    const after = await network.loss(uploaded, rows, replica);
    if (!(after < before)) throw new Error(`training takes the loss from ${before} to ${after}`);
    const title = `${labels} labels, batches of ${rows}, ${hidden} hidden units, ${features} features, ${entries} non-zeros`;
    return { title, speeds, losses: [before, after] };
  } finally {
    await kernels.dispose();
  }
}

/** @param {Awaited<ReturnType<typeof createMeasurement>>} measurement */
export function reportSpeeds({ title, speeds, losses }) {
  console.log(`\n${title}; loss ${losses.map((loss) => loss.toFixed(3)).join(" to ")}`);
  console.log("| operation        | ms, min | median |  TFLOP/s |   GB/s |");
  console.log("| ---------------- | ------- | ------ | -------- | ------ |");
  for (const { operation, ms, flops, bytes } of speeds) {
    const sorted = ms.toSorted((a, b) => a - b);
    const [least = NaN, median = NaN] = [sorted[0], sorted[sorted.length >> 1]];
    const cells = [
      operation.padEnd(16),
      least.toFixed(3).padStart(7),
      median.toFixed(3).padStart(6),
      (flops / least / 1e9).toFixed(3).padStart(8),
      (bytes / least / 1e6).toFixed(1).padStart(6),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

/**
 * Rows whose features and labels are spread over all, the same ones each time.
 *
 * @param {number} rows
 * @param {number} labels
 * @returns {import("@heterosgd/model").Batch}
 */
function madeUpBatch(rows, labels) {
  const gap = Math.floor(features / nonZeros);
  const indices = Uint32Array.from(
    { length: rows * nonZeros },
    (_, i) => (i % nonZeros) * gap + ((i * 2_654_435_761) % gap),
  );
  return {
    rows,
    offsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row * nonZeros),
    indices,
    values: new Float32Array(indices.length).fill(1 / Math.sqrt(nonZeros)),
    labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row),
    labels: Uint32Array.from({ length: rows }, (_, row) => (row * 7919) % labels),
  };
}
