/** The checks: each runs one operation over many shapes and compares with the reference. */
import type { Activation, DeviceArray, Loss } from "../kernels/contract.js";
import { gradientKinds, type Bench, type TwinArray } from "./bench.js";
import { randomBatch } from "./random-batch.js";

/** Odd sizes, and one on either side of what SIMD registers and blocks hold. */
export const rowCounts = [1, 3, 17] as const;
export const unitCounts = [1, 5, 33, 128] as const;
export const classCounts = [1, 2, 7, 130] as const;
const featureCounts = [1, 40, 300] as const;

type Check = <A extends DeviceArray, U>(bench: Bench<A, U>) => Promise<void>;

/** Adds what was at work to the message of a failure. */
async function during(shape: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${shape}: ${message}`, { cause: error });
  }
}

/** Outputs as the activation might have made them, its exact bounds and zeros among them. */
function activated<A extends DeviceArray, U>(
  { twin, uniform }: Bench<A, U>,
  activation: Activation,
  length: number,
): TwinArray<A> {
  const values = uniform(length);
  if (activation === "relu") return twin(values.map((value) => Math.max(value, 0)));
  if (activation === "sigmoid") return twin(values.map((value) => (value + 1) / 2));
  return twin(values);
}

export const gatherAgrees =
  (activation: Activation): Check =>
  async (bench) => {
    for (const rows of rowCounts) {
      for (const units of unitCounts) {
        for (const features of featureCounts) {
          await during(`${rows} rows, ${features} features, ${units} units`, async () => {
            const { kernels, reference } = bench;
            const batch = randomBatch(bench.random, rows, features, 3);
            const layer = bench.layer(features, units);
            const out = bench.twin(bench.uniform(rows * units + 5));
            kernels.gather(kernels.upload(batch, 0), layer.tested, activation, out.tested);
            reference.gather(batch, layer.reference, activation, out.reference);
            await bench.compare("out", out, rows * units);
          });
        }
      }
    }
  };

export const denseAgrees =
  (activation: Activation): Check =>
  async (bench) => {
    for (const rows of rowCounts) {
      for (const inputs of unitCounts) {
        for (const units of unitCounts) {
          await during(`${rows} rows, ${inputs} inputs, ${units} units`, async () => {
            const { kernels, reference } = bench;
            const layer = bench.layer(inputs, units);
            const input = bench.twin(bench.uniform(rows * inputs + 3));
            const out = bench.twin(bench.uniform(rows * units + 5));
            kernels.dense(rows, input.tested, layer.tested, activation, out.tested);
            reference.dense(rows, input.reference, layer.reference, activation, out.reference);
            await bench.compare("out", out, rows * units);
          });
        }
      }
    }
  };

export const outputAgrees =
  (loss: Loss, units: number): Check =>
  async (bench) => {
    for (const rows of rowCounts) {
      for (const classes of classCounts) {
        for (const kind of gradientKinds) {
          for (const withHidden of [true, false]) {
            const end = withHidden ? "" : ", no dHidden";
            const shape = `${rows} rows, ${classes} classes, gradient ${kind}${end}`;
            await during(shape, async () => {
              const { kernels, reference } = bench;
              const batch = randomBatch(bench.random, rows, 9, classes);
              const layer = bench.layer(units, classes);
              const gradient = bench.gradient(kind, layer);
              const hidden = bench.twin(bench.uniform(rows * units + 3));
              const dHidden = bench.twin(bench.uniform(rows * units + 3));
              const losses = bench.twin(bench.uniform(rows + 2));
              kernels.output(
                kernels.upload(batch, 1),
                hidden.tested,
                layer.tested,
                loss,
                gradient.tested,
                withHidden ? dHidden.tested : null,
                losses.tested,
              );
              reference.output(
                batch,
                hidden.reference,
                layer.reference,
                loss,
                gradient.reference,
                withHidden ? dHidden.reference : null,
                losses.reference,
              );
              await bench.compare("losses", losses, rows);
              // Without dHidden the array must be as it was, wherever it lies.
              await bench.compare("dHidden", dHidden, rows * units);
              await gradient.check();
            });
          }
        }
      }
    }
  };

export const denseBackwardAgrees =
  (activation: Activation): Check =>
  async (bench) => {
    const shapes = [
      [1, 1],
      [5, 33],
      [33, 5],
      [128, 128],
    ] as const;
    for (const rows of rowCounts) {
      for (const [inputs, units] of shapes) {
        for (const kind of gradientKinds) {
          if (kind === "none") continue;
          const shape = `${rows} rows, ${inputs} inputs, ${units} units, gradient ${kind}`;
          await during(shape, async () => {
            const { kernels, reference } = bench;
            const layer = bench.layer(inputs, units);
            const gradient = bench.gradient(kind, layer);
            const input = bench.twin(bench.uniform(rows * inputs + 3));
            const outputs = activated(bench, activation, rows * units + 3);
            const dOutputs = bench.twin(bench.uniform(rows * units + 3));
            const dInput = bench.twin(bench.uniform(rows * inputs + 3));
            kernels.denseBackward(
              rows,
              input.tested,
              layer.tested,
              activation,
              outputs.tested,
              dOutputs.tested,
              gradient.tested!,
              dInput.tested,
            );
            reference.denseBackward(
              rows,
              input.reference,
              layer.reference,
              activation,
              outputs.reference,
              dOutputs.reference,
              gradient.reference!,
              dInput.reference,
            );
            await bench.compare("dInput", dInput, rows * inputs);
            await gradient.check();
          });
        }
      }
    }
  };

export const scatterAgrees =
  (activation: Activation): Check =>
  async (bench) => {
    for (const rows of rowCounts) {
      for (const units of unitCounts) {
        for (const features of featureCounts) {
          for (const kind of gradientKinds) {
            if (kind === "none") continue;
            const shape = `${rows} rows, ${features} features, ${units} units, gradient ${kind}`;
            await during(shape, async () => {
              const { kernels, reference } = bench;
              const batch = randomBatch(bench.random, rows, features, 3);
              const layer = bench.layer(features, units);
              const gradient = bench.gradient(kind, layer);
              const outputs = activated(bench, activation, rows * units + 3);
              const dOutputs = bench.twin(bench.uniform(rows * units + 3));
              kernels.scatter(
                kernels.upload(batch, 0),
                layer.tested,
                activation,
                outputs.tested,
                dOutputs.tested,
                gradient.tested!,
              );
              reference.scatter(
                batch,
                layer.reference,
                activation,
                outputs.reference,
                dOutputs.reference,
                gradient.reference!,
              );
              await gradient.check();
            });
          }
        }
      }
    }
  };
