/** The checks of memory, uploads, blending and loss at its limits. */
import type { DeviceArray, GradientTarget, Kernels, Layer, Loss } from "../kernels/contract.js";
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

/**
 * All operations on a batch see it whole, though another, of another size, was uploaded meanwhile.
 */
export async function slotsAreIndependent<A extends DeviceArray, U>(
  bench: Bench<A, U>,
): Promise<void> {
  const { kernels, reference, random } = bench;
  const rows = 40;
  let before = randomBatch(random, rows, 50, 70);
  let uploaded = kernels.upload(before, 0);
  for (let i = 1; i <= 6; i++) {
    const next = randomBatch(random, i % 3 === 0 ? rows : rows - 6 * i, 50, 70);
    const nextUploaded = kernels.upload(next, i % 2 === 0 ? 0 : 1);
    const first = bench.layer(50, 8);
    const last = bench.layer(8, 70);
    const out = bench.twin(bench.uniform(rows * 8));
    const dOut = bench.twin(bench.uniform(rows * 8));
    const losses = bench.twin(bench.uniform(rows));
    const update = {
      first: bench.gradient("Adam, later", first),
      last: bench.gradient("added in place", last),
    };
    passes(kernels, uploaded, {
      first: first.tested,
      last: last.tested,
      out: out.tested,
      dOut: dOut.tested,
      losses: losses.tested,
      update: { first: update.first.tested!, last: update.last.tested! },
    });
    passes(reference, before, {
      first: first.reference,
      last: last.reference,
      out: out.reference,
      dOut: dOut.reference,
      losses: losses.reference,
      update: { first: update.first.reference!, last: update.last.reference! },
    });
    await bench.compare(`out of batch ${i}`, out, before.rows * 8);
    await bench.compare(`losses of batch ${i}`, losses, before.rows);
    await update.first.check();
    await update.last.check();
    before = next;
    uploaded = nextUploaded;
  }
}

interface Passes<A extends DeviceArray> {
  readonly first: Layer<A>;
  readonly last: Layer<A>;
  readonly out: A;
  readonly dOut: A;
  readonly losses: A;
  readonly update: { readonly first: GradientTarget<A>; readonly last: GradientTarget<A> };
}

/** All that a batch is used for. */
function passes<A extends DeviceArray, U>(
  kernels: Kernels<A, U>,
  batch: U,
  { first, last, out, dOut, losses, update }: Passes<A>,
): void {
  kernels.gather(batch, first, "tanh", out);
  kernels.output(batch, out, last, "softmax", update.last, dOut, losses);
  kernels.scatter(batch, first, "tanh", out, dOut, update.first);
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

/**
 * Blending an array part by part gives the same bits as blending it whole, wherever the parts begin:
 * that is how a merge is shared out.
 */
export async function blendsInParts<A extends DeviceArray, U>({
  kernels,
  random,
  twin,
  uniform,
}: Bench<A, U>): Promise<void> {
  const length = 3000;
  for (const count of [1, 2, 3, 4, 6]) {
    const coefficients = uniform(count);
    const sources = Array.from({ length: count }, () => twin(uniform(length)).tested);
    const termsOf = (start: number, end: number) =>
      sources.map((source, i) => ({
        coefficient: coefficients[i]!,
        source: kernels.view(source, start, end - start),
      }));
    const whole = kernels.allocate(length);
    kernels.blend(whole, termsOf(0, length));
    const parts = kernels.allocate(length);
    for (let start = 0; start < length;) {
      const end = Math.min(length, start + 1 + random.nextBelow(150));
      kernels.blend(kernels.view(parts, start, end - start), termsOf(start, end));
      start = end;
    }
    const [expected, actual] = [new Float32Array(length), new Float32Array(length)];
    await kernels.read(whole, expected);
    await kernels.read(parts, actual);
    for (const [i, value] of expected.entries()) {
      if (actual[i] === value) continue;
      throw new Error(`${count} terms: element ${i} is ${actual[i]} in parts, not ${value}`);
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
