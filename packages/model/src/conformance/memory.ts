/** The checks of memory, uploads, blending and loss at its limits. */
import type { DeviceArray, Loss } from "../kernels/contract.js";
import type { Bench } from "./bench.js";
import { randomBatch } from "./random-batch.js";

export async function memoryHolds<A extends DeviceArray, U>({
  kernels,
  uniform,
}: Bench<A, U>): Promise<void> {
  const array = kernels.allocate(48);
  const host = new Float32Array(48).fill(1);
  if (kernels.sharesMemory && !(array instanceof Float32Array)) {
    throw new Error("kernels that share memory must allocate Float32Arrays");
  }
  if (array.length !== 48) throw new Error(`allocate(48) has length ${array.length}`);
  await kernels.read(array, host);
  if (host.some((value) => value !== 0)) throw new Error("allocated memory isn't zeroed");

  const values = uniform(48);
  kernels.write(values, array);
  const part = kernels.view(array, 16, 20);
  if (part.length !== 20) throw new Error(`a view of 20 elements has length ${part.length}`);
  const changed = uniform(20);
  kernels.write(changed, part);
  await kernels.read(array, host);
  const expected = values.slice();
  expected.set(changed, 16);
  for (let i = 0; i < 48; i++) {
    if (host[i] !== expected[i]) {
      throw new Error(
        `element ${i} is ${host[i]}, not ${expected[i]}, after writing through a view`,
      );
    }
  }
}

export async function slotsAreIndependent<A extends DeviceArray, U>(
  bench: Bench<A, U>,
): Promise<void> {
  const { kernels, reference, random } = bench;
  const layer = bench.layer(50, 8);
  let before = randomBatch(random, 9, 50, 3);
  let uploaded = kernels.upload(before, 0);
  for (let i = 1; i <= 4; i++) {
    // The next batch, of another size, is uploaded before this one is used.
    const next = randomBatch(random, 9 - i, 50, 3);
    const nextUploaded = kernels.upload(next, i % 2 === 0 ? 0 : 1);
    const out = bench.twin(bench.uniform(9 * 8));
    kernels.gather(uploaded, layer.tested, "tanh", out.tested);
    reference.gather(before, layer.reference, "tanh", out.reference);
    await bench.compare(`out of batch ${i}`, out, before.rows * 8);
    before = next;
    uploaded = nextUploaded;
  }
}

export async function blendAgrees<A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> {
  const { kernels, reference, twin, uniform } = bench;
  for (const length of [1, 7, 1000, 5003]) {
    for (const count of [0, 1, 2, 3, 5]) {
      for (const own of [-1, 0, count - 1]) {
        const target = twin(uniform(length));
        const sources = Array.from({ length: count }, (_, i) =>
          i === own ? target : twin(uniform(length)),
        );
        const coefficients = uniform(count, -2, 2);
        kernels.blend(
          target.tested,
          sources.map(({ tested }, i) => ({ coefficient: coefficients[i]!, source: tested })),
        );
        reference.blend(
          target.reference,
          sources.map((source, i) => ({ coefficient: coefficients[i]!, source: source.reference })),
        );
        await bench.compare(`${count} terms of length ${length}`, target);
      }
    }
  }
}

/** Logits above 100, whose exponentials overflow float32, have finite losses and derivatives. */
export const largeLogitsStayFinite =
  (loss: Loss) =>
  async <A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> => {
    const { kernels, reference, twin, uniform } = bench;
    const rows = 17;
    const units = 5;
    const classes = 130;
    const weights = twin(uniform(classes * units, -60, 60));
    const bias = twin(uniform(classes, -60, 60));
    const hidden = twin(uniform(rows * units));
    const dHidden = twin(uniform(rows * units));
    const losses = twin(uniform(rows));
    const batch = randomBatch(bench.random, rows, 9, classes);
    kernels.output(
      kernels.upload(batch, 0),
      hidden.tested,
      { inputs: units, outputs: classes, weights: weights.tested, bias: bias.tested },
      loss,
      null,
      dHidden.tested,
      losses.tested,
    );
    reference.output(
      batch,
      hidden.reference,
      { inputs: units, outputs: classes, weights: weights.reference, bias: bias.reference },
      loss,
      null,
      dHidden.reference,
      losses.reference,
    );
    await bench.compare("losses", losses);
    await bench.compare("dHidden", dHidden);
  };
