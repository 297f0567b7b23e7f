/** What merges models beside a GPU, whose own kernels don't reach the process's memory. */
import { isDeepStrictEqual } from "node:util";
import { nativeSupport, wasmSupport } from "@heterosgd/cpu-kernels";
import { createPlainKernels } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { describe, expect, test } from "vitest";
import { createDeviceHost } from "../src/device/device-host.js";
import {
  createDeviceKernels,
  hostOf,
  plainKernels,
  type CpuKernelsDescription,
} from "../src/device/device-kernels.js";
import { createKernelMemory, kernelsSetup } from "../src/device/kernel-memory.js";
import { createOpaqueKernels } from "./opaque-kernels.js";
import { shape } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

const rows = syntheticRows(20);
const native = nativeSupport();
const hosts: readonly CpuKernelsDescription[] = [
  ...(native.available ? [{ ...plainKernels, name: "native", isa: native.isas[0]! } as const] : []),
  ...(wasmSupport().available ? [{ ...plainKernels, name: "wasm" } as const] : []),
  plainKernels,
];
const gpu = { name: "cuda", index: 0, device: "a GPU" } as const;
const length = 5000;

describe.each(hosts)("$name", (host) => {
  const memory = createKernelMemory([{ ...gpu, host }]);

  /** Two models whose elements need all their digits. */
  function models() {
    return [1, 2].map((seed) => {
      const random = createRandom(seed, 0);
      const parameters = memory.allocate(length);
      for (let i = 0; i < length; i++) parameters[i] = random.nextFloat() - 0.5;
      return { parameters, state: [], updates: new Int32Array(new SharedArrayBuffer(4)) };
    });
  }
  const coefficients = [0.3, 0.7];

  function blendedBy(kernels: ReturnType<typeof createPlainKernels>): Float32Array {
    const target = memory.allocate(length);
    const terms = models().map(({ parameters }, i) => ({
      coefficient: coefficients[i]!,
      source: parameters,
    }));
    kernels.blend(target, terms);
    return target.slice();
  }

  test("merges as it does on a device of its own, to the last bit", async () => {
    const device = createDeviceHost({
      createKernels: () => createOpaqueKernels(createPlainKernels()),
      now: () => 0,
      idle: () => undefined,
    });
    await device.open({
      id: 0,
      kernels: kernelsSetup({ ...gpu, host }, memory),
      speed: 1,
      shape,
      rule: null,
      train: rows.buffer,
      evaluation: null,
      limits: { rows: 8, nonZeros: 100, labels: 30 },
      cutoffs: [1],
      replicas: 1,
      accumulators: 0,
    });
    const own = models();
    await device.attach({ models: own, own: [] });
    await device.blend({
      target: 0,
      terms: coefficients.map((coefficient, model) => ({ model, coefficient })),
      stateTerms: [],
      start: 0,
      end: length,
      journal: null,
    });
    const blended = own[0]!.parameters.slice();
    expect(blended).toEqual(blendedBy(createDeviceKernels(kernelsSetup(host, memory))));
    // Native sums are of another precision than those of the others.
    const isPlain = isDeepStrictEqual(blended, blendedBy(createPlainKernels()));
    expect(isPlain).toBe(host.name !== "native");
    await device.close();
  });
});

test("recordings that don't say what merged were merged by plain kernels", () => {
  expect(hostOf(gpu)).toBe(plainKernels);
  expect(hostOf({ ...plainKernels, name: "wasm" })).toMatchObject({ name: "wasm" });
});
