/** Uploads and steps at once, on the stand-in: it tells which copies were done while kernels still waited. */
import { createNetwork, initialise, parameterLayout, type Batch } from "@heterosgd/model";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { controlOf, standIn } from "../../test/stand-in.js";
import { createGpuKernels } from "../gpu-kernels.js";

const layout = parameterLayout({
  features: 30,
  hidden: [6, 5],
  labels: 9,
  activation: "relu",
  loss: "softmax",
});
const rows = 4;

/** Rows with two features and a label each, other ones in each batch. */
function batchOf(number: number): Batch {
  const feature = (row: number, i: number) => ((3 * number + 5 * row) % 15) + 15 * i;
  return {
    rows,
    offsets: Uint32Array.from({ length: rows + 1 }, (_, row) => 2 * row),
    indices: Uint32Array.from({ length: 2 * rows }, (_, i) => feature(i >> 1, i % 2)),
    values: new Float32Array(2 * rows).fill(0.5),
    labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row),
    labels: Uint32Array.from({ length: rows }, (_, row) => (number + row) % 9),
  };
}

describe.skipIf(!standIn.ok)("on CUDA", () => {
  const library = standIn.ok ? standIn.path : "";
  const control = standIn.ok ? controlOf(library) : (undefined as never);
  beforeEach(() => {
    control.reset();
    control.set("STREAMS", "copies-first");
  });
  afterEach(() => control.reset());

  function open() {
    const kernels = createGpuKernels({ technology: "cuda", library });
    onTestFinished(() => void kernels.dispose());
    const network = createNetwork(kernels, layout, { maxRows: rows });
    const weights = kernels.allocate(layout.length);
    const host = new Float32Array(layout.length);
    initialise(layout, host, 1);
    kernels.write(host, weights);
    const sgd = { kind: "add", target: weights, scale: -0.1 } as const;
    return {
      kernels,
      train: (batch: ReturnType<typeof kernels.upload>) => network.train(batch, rows, weights, sgd),
    };
  }

  test("the upload into the other slot waits for nothing of the step that runs", async () => {
    const { kernels, train } = open();
    for (let step = 0; step < 4; step++) {
      const slot = step % 2 === 0 ? 0 : 1;
      const done = train(kernels.upload(batchOf(step), slot));
      const before = control.uploadsBesideKernels;
      kernels.upload(batchOf(step + 1), slot === 0 ? 1 : 0);
      expect(control.uploadsBesideKernels - before).toBe(1);
      await done;
    }
  });

  test("the upload into its own slot waits for the step, as does one when it is done", async () => {
    const { kernels, train } = open();
    const done = train(kernels.upload(batchOf(0), 0));
    const before = control.uploadsBesideKernels;
    kernels.upload(batchOf(1), 0);
    await done;
    kernels.upload(batchOf(2), 1);
    expect(control.uploadsBesideKernels - before).toBe(0);
  });
});
