/** Arrays that lie in host memory and on the device by turns are one array, whatever is done with them. */
import { createPlainKernels, type DeviceArray, type Kernels } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { describe, expect, test } from "vitest";
import { modes, openShared } from "../../test/gpujs.js";

const length = 240;

/** Random writes, layers over random parts, blends and readings, always the same for a seed. */
async function story<A extends DeviceArray, U>(
  kernels: Kernels<A, U>,
  seed: number,
): Promise<readonly Float32Array[]> {
  const random = createRandom(seed, 1);
  const arrays = [0, 1, 2].map(() => kernels.allocate(length));
  const between = (low: number, high: number) => low + random.nextBelow(high - low + 1);
  const part = (size: number, not?: A): A => {
    const others = arrays.filter((array) => array !== not);
    const array = others[random.nextBelow(others.length)]!;
    return kernels.view(array, random.nextBelow(length - size + 1), size);
  };
  const seen: Float32Array[] = [];
  for (let i = 0; i < 60; i++) {
    switch (random.nextBelow(5)) {
      case 0: {
        const values = new Float32Array(between(1, length)).map(() => random.nextFloat() - 0.5);
        kernels.write(values, part(values.length));
        break;
      }
      case 1: {
        // Results go to one array, and come from the others.
        const [rows, inputs, outputs] = [between(1, 5), between(1, 8), between(1, 8)];
        const to = arrays[random.nextBelow(3)]!;
        const start = random.nextBelow(length - rows * outputs + 1);
        const out = kernels.view(to, start, rows * outputs);
        const layer = {
          inputs,
          outputs,
          weights: part(inputs * outputs, to),
          bias: part(outputs, to),
        };
        kernels.dense(rows, part(rows * inputs, to), layer, "tanh", out);
        break;
      }
      case 2: {
        const size = between(1, length);
        const to = arrays[random.nextBelow(3)]!;
        const target = kernels.view(to, random.nextBelow(length - size + 1), size);
        const terms = [0.5, -0.25].map((coefficient) => ({ coefficient, source: part(size, to) }));
        kernels.blend(target, terms.slice(0, random.nextBelow(3)));
        break;
      }
      case 3: {
        const [rows, inputs, outputs] = [between(1, 4), between(1, 7), between(1, 7)];
        const [from, to, back] = [arrays[0]!, arrays[1]!, arrays[2]!];
        const at = (array: A, size: number) =>
          kernels.view(array, random.nextBelow(length - size + 1), size);
        const own = {
          inputs,
          outputs,
          weights: at(from, inputs * outputs),
          bias: at(from, outputs),
        };
        const start = random.nextBelow(length - inputs * outputs - outputs + 1);
        const target = {
          weights: kernels.view(to, start, inputs * outputs),
          bias: kernels.view(to, start + inputs * outputs, outputs),
        };
        const gradient = { kind: "add", target, scale: 0.1 } as const;
        const derivatives = kernels.allocate(rows * outputs);
        kernels.write(new Float32Array(rows * outputs).fill(0.3), derivatives);
        const input = at(from, rows * inputs);
        const outs = at(from, rows * outputs);
        const into = at(back, rows * inputs);
        kernels.denseBackward(rows, input, own, "tanh", outs, derivatives, gradient, into);
        break;
      }
      default: {
        const target = new Float32Array(between(1, length));
        await kernels.read(part(target.length), target);
        seen.push(target);
      }
    }
  }
  for (const array of arrays) {
    const whole = new Float32Array(length);
    await kernels.read(array, whole);
    seen.push(whole);
  }
  return seen;
}

describe.each(modes)("arrays of gpu.js on $title", ({ mode, isAbsent }) => {
  test.skipIf(isAbsent)(
    "are what was last written, on either side",
    { timeout: 120_000 },
    async () => {
      for (let seed = 1; seed <= 25; seed++) {
        const kernels = openShared(mode);
        const actual = await story(kernels, seed);
        await kernels.dispose();
        const expected = await story(createPlainKernels(), seed);
        for (const [i, values] of expected.entries()) {
          expect(actual[i], `seed ${seed}, reading ${i}`).toBeAllClose(values, { absolute: 1e-4 });
        }
      }
    },
  );
});
