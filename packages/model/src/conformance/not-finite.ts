/**
 * The checks of numbers that are none: whoever trains sees a divergence by the loss alone, so that no
 * operation may turn NaN or infinity into something harmless.
 */
import { activations } from "../network/shape.js";
import type { DeviceArray, Loss } from "../kernels/contract.js";
import type { Bench } from "./bench.js";
import { randomBatch } from "./random-batch.js";

const rows = 19;
const units = 33;
const classes = 200;

/** Throws unless the elements that `bad` accepts are not finite, and all others are. */
function requireNotFinite(
  what: string,
  values: Float32Array,
  bad: (index: number) => boolean,
): void {
  for (const [i, value] of values.entries()) {
    if (Number.isFinite(value) !== bad(i)) continue;
    const expected = bad(i) ? "a number that is not finite" : "a finite number";
    throw new Error(`${what}[${i}] is ${value}, not ${expected}`);
  }
}

async function read<A extends DeviceArray, U>(
  { kernels }: Bench<A, U>,
  array: A,
): Promise<Float32Array> {
  const values = new Float32Array(array.length);
  await kernels.read(array, values);
  return values;
}

/** NaN in a row's values or a unit's weights comes through every activation. */
export async function activationsKeepNaN<A extends DeviceArray, U>(
  bench: Bench<A, U>,
): Promise<void> {
  const { kernels } = bench;
  const bad = bench.random.nextBelow(rows);
  for (const activation of activations) {
    const batch = randomBatch(bench.random, rows, 40, 3);
    const isEmpty = batch.offsets[bad] === batch.offsets[bad + 1];
    if (!isEmpty) batch.values[batch.offsets[bad]!] = NaN;
    const out = kernels.allocate(rows * units);
    kernels.gather(kernels.upload(batch, 0), bench.layer(40, units).tested, activation, out);
    requireNotFinite(
      `gather with ${activation}, out`,
      await read(bench, out),
      (i) => !isEmpty && Math.floor(i / units) === bad,
    );

    const input = bench.uniform(rows * units);
    input[bad * units + bench.random.nextBelow(units)] = NaN;
    const next = kernels.allocate(rows * 16);
    kernels.dense(rows, bench.twin(input).tested, bench.layer(units, 16).tested, activation, next);
    requireNotFinite(
      `dense with ${activation}, out`,
      await read(bench, next),
      (i) => Math.floor(i / 16) === bad,
    );
  }
}

/**
 * A row whose hidden units hold NaN or infinity has a loss that is not finite, and no other has; a
 * class whose bias or weights do makes every labelled row's loss so.
 */
export const lossesShowNaN =
  (loss: Loss) =>
  async <A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> => {
    const { kernels } = bench;
    for (const value of [NaN, Infinity]) {
      for (const where of ["hidden", "weights", "bias"] as const) {
        const batch = randomBatch(bench.random, rows, 9, classes);
        const isLabelled = (row: number) => batch.labelOffsets[row + 1]! > batch.labelOffsets[row]!;
        const arrays = {
          hidden: bench.uniform(rows * units, 0.1, 1),
          weights: bench.uniform(classes * units, -0.2, 0.2),
          bias: bench.uniform(classes),
        };
        const row = bench.random.nextBelow(rows);
        if (where === "hidden") arrays.hidden[row * units] = value;
        else if (where === "bias") arrays.bias[bench.random.nextBelow(classes)] = value;
        else arrays.weights[bench.random.nextBelow(classes * units)] = value;
        const losses = kernels.allocate(rows);
        kernels.output(
          kernels.upload(batch, 0),
          bench.twin(arrays.hidden).tested,
          {
            inputs: units,
            outputs: classes,
            weights: bench.twin(arrays.weights).tested,
            bias: bench.twin(arrays.bias).tested,
          },
          loss,
          null,
          null,
          losses,
        );
        requireNotFinite(
          `${value} in ${where}, losses`,
          await read(bench, losses),
          (i) => isLabelled(i) && (where !== "hidden" || i === row),
        );
      }
    }
  };

/** `logSumExp` shows it likewise. */
export async function topKShowsNaN<A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> {
  const { kernels } = bench;
  for (const value of [NaN, Infinity]) {
    const hidden = bench.uniform(rows * units, 0.1, 1);
    const row = bench.random.nextBelow(rows);
    hidden[row * units + 7] = value;
    const sums = new Float32Array(rows);
    await kernels.topK(
      rows,
      bench.twin(hidden).tested,
      bench.layer(units, classes).tested,
      5,
      new Uint32Array(rows * 5),
      new Float32Array(rows * 5),
      sums,
    );
    requireNotFinite(`${value} in hidden, logSumExp`, sums, (i) => i === row);
  }
}
