/** Whichever call of the driver fails, and however: an error that says so, and nothing is kept. On the stand-in. */
import { createNetwork, initialise, parameterLayout, type Batch } from "@heterosgd/model";
import { afterEach, describe, expect, test } from "vitest";
import { controlOf, standIn } from "../../test/stand-in.js";
import { GpuKernelsError } from "../errors.js";
import { createGpuKernels } from "../gpu-kernels.js";

const layout = parameterLayout({
  features: 12,
  hidden: [5, 3],
  labels: 7,
  activation: "sigmoid",
  loss: "softmax",
});
const adagrad = { name: "adagrad", epsilon: 1e-6 } as const;

const batchOf = (rows: number): Batch => ({
  rows,
  offsets: Uint32Array.from({ length: rows + 1 }, (_, row) => 2 * row),
  indices: Uint32Array.from({ length: 2 * rows }, (_, i) => (i % 2) * 6 + (i >> 1)),
  values: new Float32Array(2 * rows).fill(0.5),
  labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row),
  labels: Uint32Array.from({ length: rows }, (_, row) => row),
});

/** Steps with the next batch uploaded meanwhile, which grows, a ranking and a read. */
async function work(library: string, cublas: string | false): Promise<void> {
  const kernels = createGpuKernels({ technology: "cuda", library, cublas });
  try {
    const network = createNetwork(kernels, layout, { maxRows: 4 });
    const [weights, state] = [kernels.allocate(layout.length), kernels.allocate(layout.length)];
    const host = new Float32Array(layout.length);
    initialise(layout, host, 1);
    kernels.write(host, weights);
    let uploaded = kernels.upload(batchOf(1), 0);
    for (let rows = 1; rows <= 3; rows++) {
      const rule = { kind: "rule", target: weights, scale: 1 / rows, rule: adagrad } as const;
      const target = { ...rule, learningRate: 0.1, step: rows, state: [state] };
      const done = network.train(uploaded, rows, weights, target);
      done.catch(() => undefined);
      uploaded = kernels.upload(batchOf(rows + 1), rows % 2 === 0 ? 0 : 1);
      await done;
    }
    const top = {
      ids: new Uint32Array(8),
      logits: new Float32Array(8),
      logSumExp: new Float32Array(4),
    };
    await network.predict(uploaded, 4, weights, 2, top);
    kernels.blend(weights, [{ coefficient: 0.5, source: weights }]);
    await kernels.read(weights, host);
  } finally {
    await kernels.dispose();
  }
}

describe.skipIf(!standIn.ok)("a call of CUDA's driver that fails", () => {
  const library = standIn.ok ? standIn.path : "";
  const control = standIn.ok ? controlOf(library) : (undefined as never);
  afterEach(() => control.reset());

  /** What becomes of work in which the call of that number fails. */
  async function outcome(number: number, code: number, cublas: string | false) {
    control.set("FAIL", `*@${number}=${code}`);
    let end = "done";
    try {
      await work(library, cublas);
    } catch (error) {
      end = error instanceof GpuKernelsError ? error.code : String(error);
    }
    control.reset();
    expect([control.contexts, control.bytes, control.handles]).toEqual([0, 0, 0]);
    return end;
  }

  test.each([
    // Not only where memory is taken: any call may say so.
    ["for want of memory", 2, ["GPU_MEMORY", "GPU_UNAVAILABLE"]],
    ["for a wrong argument", 1, ["GPU_DRIVER", "GPU_UNAVAILABLE"]],
    ["because a kernel failed", 700, ["GPU_LOST", "GPU_UNAVAILABLE"]],
    ["because the device is gone", 999, ["GPU_LOST", "GPU_UNAVAILABLE"]],
  ] as const)("%s is told by its code, and all is given back", async (_, code, codes) => {
    const seen = new Set<string>();
    // Every call of the first hundred, then some; the last run is one in which no call fails.
    for (let number = 1, step = 1; ; number += step) {
      const end = await outcome(number, code, number % 2 === 0 ? library : false);
      seen.add(end);
      if (end === "done" && number > 400) break;
      if (number > 100) step = 7;
    }
    seen.delete("done");
    expect([...seen].toSorted()).toEqual(codes);
  });
});
