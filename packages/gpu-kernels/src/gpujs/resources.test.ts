/** What the kernels hold on the device, and that it is given back. */
import {
  createNetwork,
  createTopK,
  initialise,
  parameterLayout,
  type Batch,
  type UpdateRule,
} from "@heterosgd/model";
import { GPU } from "gpu.js";
import { describe, expect, test } from "vitest";
import { modes, openShared } from "../../test/gpujs.js";
import { createGpujsKernels } from "./gpujs-kernels.js";
import { gpujsKernelsBytes } from "./memory.js";

const rows = 24;
const layout = parameterLayout({
  features: 300,
  hidden: [33, 20],
  labels: 700,
  activation: "relu",
  loss: "softmax",
});

/** Batches of different sizes, as the last one of an epoch is. */
function batchOf(count: number, step: number): Batch {
  const offsets = Uint32Array.from({ length: count + 1 }, (_, row) => 4 * row);
  const labelOffsets = Uint32Array.from({ length: count + 1 }, (_, row) => row);
  return {
    rows: count,
    offsets,
    indices: Uint32Array.from(
      { length: 4 * count },
      (_, i) => 70 * (i % 4) + ((7 * i + 13 * step) % 70),
    ),
    values: new Float32Array(4 * count).fill(0.5),
    labelOffsets,
    labels: Uint32Array.from({ length: count }, (_, row) => (31 * row + step) % 700),
  };
}

const adam: UpdateRule = { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 1e-8 };

describe.each(modes)("gpu.js on $title", { timeout: 120_000 }, ({ mode, isAbsent }) => {
  test.skipIf(isAbsent)("holds as much after many steps as after two of each size", async () => {
    let gpu: GPU | undefined;
    const Watched = new Proxy(GPU, {
      construct: (target, values: ConstructorParameters<typeof GPU>) =>
        (gpu = new target(...values)),
    });
    const kernels = createGpujsKernels({ GPU: Watched, mode });
    const texturesOfWebGl = countTextures(gpu as unknown as { readonly context: unknown });
    const network = createNetwork(kernels, layout, { maxRows: rows });
    const weights = kernels.allocate(layout.length);
    const state = [0, 1].map(() => kernels.allocate(layout.length));
    const initial = new Float32Array(layout.length);
    initialise(layout, initial, 1);
    kernels.write(initial, weights);
    const top = createTopK(rows, 5);

    const counts: (readonly [number, number, number])[] = [];
    let first = 0;
    let last = 0;
    for (let step = 1; step <= 40; step++) {
      const count = step % 4 === 0 ? 7 : rows;
      const uploaded = kernels.upload(batchOf(count, step), step % 2 === 0 ? 0 : 1);
      last = await network.train(uploaded, count, weights, {
        kind: "rule",
        target: weights,
        scale: 1 / count,
        rule: adam,
        learningRate: 0.003,
        step,
        state,
      });
      if (step === 1) first = last;
      await network.predict(uploaded, count, weights, 5, top);
      const { blocks, bytes } = await kernels.deviceUse();
      if (step % 8 === 0) counts.push([blocks, bytes, texturesOfWebGl()]);
    }
    for (const later of counts.slice(1)) expect(later).toEqual(counts[0]);
    // More than the kernels count, for gpu.js keeps each one's last; none without WebGL.
    expect(texturesOfWebGl() > counts[0]![0]).toBe(mode === "headlessgl");
    expect(last).toBeLessThan(first);
    await kernels.dispose();
  });

  test.skipIf(isAbsent)(
    "stays within its estimate, and is warm without keeping a thing",
    async () => {
      const kernels = openShared(mode);
      await kernels.warm(layout, { maxRows: rows, optimizer: adam });
      const { blocks, mostBytes } = await kernels.deviceUse();
      expect(blocks).toBe(0);
      const estimate = gpujsKernelsBytes(layout, {
        maxRows: rows,
        maxNonZeros: 4 * rows,
        maxLabels: rows,
        optimizer: adam,
      });
      expect(mostBytes).toBeGreaterThan(4 * 700 * 20);
      expect(mostBytes).toBeLessThan(estimate);
      await kernels.dispose();
    },
  );
});

/** Counts the textures that WebGL itself has from now on, whatever the kernels count. */
function countTextures({ context }: { readonly context: unknown }): () => number {
  const gl = context as {
    createTexture(): unknown;
    deleteTexture(texture: unknown): void;
  } | null;
  let count = 0;
  if (gl?.createTexture === undefined) return () => 0;
  const create = gl.createTexture.bind(gl);
  const remove = gl.deleteTexture.bind(gl);
  gl.createTexture = () => {
    count++;
    return create();
  };
  gl.deleteTexture = (texture) => {
    count--;
    remove(texture);
  };
  return () => count;
}
