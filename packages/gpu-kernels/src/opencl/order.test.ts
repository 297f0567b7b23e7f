/** What is asked for at once happens in order. */
import { createNetwork, initialise, parameterLayout, type Batch } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { describe, expect, it } from "vitest";
import { createGpuKernels } from "../gpu-kernels.js";
import { compileTime } from "../../test/compile-time.js";
import { openclSupport } from "./devices.js";

const support = openclSupport();
const layout = parameterLayout({
  features: 400,
  hidden: [24, 16],
  labels: 300,
  activation: "tanh",
  loss: "softmax",
});
const maxRows = 40;

/** Batches of other sizes each. */
function batches(count: number): readonly Batch[] {
  const random = createRandom(3, 0);
  return Array.from({ length: count }, (_, n) => {
    const rows = maxRows - 7 * (n % 4);
    const each = 5 + (n % 3);
    return {
      rows,
      offsets: Uint32Array.from({ length: rows + 1 }, (_unused, row) => row * each),
      indices: Uint32Array.from(
        { length: rows * each },
        (_unused, i) => 50 * (i % each) + random.nextBelow(50),
      ),
      values: Float32Array.from({ length: rows * each }, () => random.nextFloat()),
      labelOffsets: Uint32Array.from({ length: rows + 1 }, (_unused, row) => row),
      labels: Uint32Array.from({ length: rows }, () => random.nextBelow(300)),
    };
  });
}

/** Losses and weights after a step on each batch, uploaded before or after the step before is done. */
async function train(ahead: boolean) {
  const kernels = createGpuKernels({ technology: "opencl" });
  const network = createNetwork(kernels, layout, { maxRows });
  const weights = kernels.allocate(layout.length);
  const host = new Float32Array(layout.length);
  initialise(layout, host, 1);
  kernels.write(host, weights);
  const sgd = { kind: "add", target: weights, scale: -0.02 } as const;
  const all = batches(12);
  const losses: number[] = [];
  const upload = (index: number) => kernels.upload(all[index]!, index % 2 === 0 ? 0 : 1);
  let uploaded = upload(0);
  for (let i = 0; i < all.length; i++) {
    const step = network.train(uploaded, all[i]!.rows, weights, sgd);
    if (!ahead) losses.push(await step);
    if (i + 1 < all.length) uploaded = upload(i + 1);
    if (ahead) losses.push(await step);
  }
  await kernels.read(weights, host);
  await kernels.dispose();
  return { losses, host };
}

describe.skipIf(!support.available)("on OpenCL", compileTime, () => {
  it("a batch that is uploaded while a step runs changes nothing of it, to the last bit", async () => {
    const [before, ahead] = [await train(false), await train(true)];
    expect(ahead).toEqual(before);
    expect(before.losses.every((loss) => Number.isFinite(loss))).toBe(true);
  });

  it("what is read is what was there when it was asked for", async () => {
    const kernels = createGpuKernels({ technology: "opencl" });
    const length = 1000;
    const [array, one] = [kernels.allocate(length), kernels.allocate(length)];
    kernels.write(new Float32Array(length).fill(1), one);
    const targets = Array.from({ length: 20 }, () => new Float32Array(length));
    const reads = targets.map(async (target) => {
      kernels.blend(array, [
        { coefficient: 1, source: array },
        { coefficient: 1, source: one },
      ]);
      await kernels.read(array, target);
    });
    await Promise.all(reads);
    for (const [i, target] of targets.entries()) {
      expect(target.every((value) => value === i + 1)).toBe(true);
    }
    await kernels.dispose();
  });

  it("kernels that are disposed at once give what was asked for before", async () => {
    const kernels = createGpuKernels({ technology: "opencl" });
    const array = kernels.allocate(3);
    kernels.write(Float32Array.of(1, 2, 3), array);
    const target = new Float32Array(3);
    const read = kernels.read(array, target);
    await kernels.dispose();
    await kernels.dispose();
    await read;
    expect([...target]).toEqual([1, 2, 3]);
  });
});
