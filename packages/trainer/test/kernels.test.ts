/** Each kind of kernels on real devices, and what is said where they can't be had. */
import type { Command } from "@heterosgd/scheduler";
import { nativeSupport } from "@heterosgd/cpu-kernels";
import { beforeAll, describe, expect, test } from "vitest";
import type { StartRecord, TrainOptions } from "../src/index.js";
import { builtTrainer } from "./built.js";
import { devicesOf, evaluation, ofPolicy, options, policy, recorded, shape } from "./small-run.js";
import { scriptPolicy, stop } from "./script-policy.js";
import { syntheticRows } from "./synthetic.js";

const { evaluateModel, parseDevices, predict, replay, train } = await builtTrainer();

const native = nativeSupport();
const without = native.available ? "" : native.reason;

const kinds = [
  { kernels: "native", bf16: false, devices: "cpu,cpu@0.7", available: native.available },
  { kernels: "native", bf16: false, devices: "cpu:2,cpu", available: native.available },
  // A processor without such products leaves nothing to test.
  ...(native.available && !native.bf16
    ? []
    : ([
        { kernels: "native", bf16: true, devices: "2*cpu", available: native.available },
      ] as const)),
  { kernels: "wasm", bf16: false, devices: "cpu,cpu@0.7", available: true },
  { kernels: "plain", bf16: false, devices: "cpu,cpu@0.7", available: true },
] as const;

const rules = [
  // Momentum over merges makes more of it unstable where one device does nearly all.
  ["SGD", null, 0.3],
  ["Adam", { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }, 0.01],
] as const;

for (const { kernels, bf16, devices, available } of kinds) {
  const inBf16 = bf16 ? " in bfloat16" : "";
  describe.skipIf(!available)(`${kernels} kernels${inBf16} on ${devices}`, () => {
    test.each(rules)(
      "learn with %s, and the run is replayed to the last bit",
      async (_, rule, rate) => {
        const changes: Partial<TrainOptions> = {
          shape: { ...shape, hidden: [16, 12] },
          kernels,
          bf16,
          devices: parseDevices(devices),
          rule,
          policy: policy({ learningRate: rate }),
        };
        const { result, events } = await recorded(changes);
        expect(result.metrics!.precision[0]).toBeGreaterThan(0.9);
        const started = devicesOf(events);
        expect(started.map(({ runs }) => runs)).toMatchObject(
          parseDevices(devices).map(({ threads }) => ({ name: kernels, threads, bf16 })),
        );
        for (const device of result.devices)
          expect(device.kernels).toMatch(new RegExp(`^${kernels}`));
        const again = await replay({
          ...options(changes),
          devices: started,
          events: ofPolicy(events),
        });
        expect(again).toEqual(result.parameters);
      },
    );

    test("give the metrics of a run and the predictions of its model again", async () => {
      const changes = { kernels, devices: parseDevices(devices), policy: policy({ epochs: 1 }) };
      const { parameters, metrics } = await train(options(changes));
      const model = { shape, parameters, dataset: evaluation };
      const again = await evaluateModel({ ...model, devices: parseDevices("2*cpu"), kernels });
      expect(again.precision).toEqual(metrics!.precision);
      const labels = async (by: "plain" | typeof kernels) => {
        const best: number[] = [];
        for await (const [first] of predict({ ...model, kernels: by, k: 1 })) {
          best.push(first!.label);
        }
        return best;
      };
      expect(await labels(kernels)).toEqual(await labels("plain"));
    });

    test("step through micro-batches as if they were batches", async () => {
      const rows = syntheticRows(120);
      const run = async (commands: readonly Command[]) => {
        const { parameters } = await train({
          ...options({ kernels, devices: parseDevices("cpu") }),
          train: rows,
          evaluation: null,
          policy: scriptPolicy(["global"], [commands]),
        });
        return parameters;
      };
      const step = (start: number, count: number) =>
        ({
          type: "step",
          device: 0,
          rows: [{ epoch: 0, start, count }],
          learningRate: 0.3,
          model: "global",
        }) as const;
      // More rows than the device has room for at once, and a last step that is short.
      const together = await run([{ ...step(0, 118), microBatchRows: 5 }]);
      const apart = await run(
        Array.from({ length: 24 }, (_, i) => step(5 * i, Math.min(5, 118 - 5 * i))),
      );
      expect(together).toBeAllClose(apart, { absolute: 1e-5 });
    });
  });
}

describe("what can't be had", () => {
  test("bfloat16 is refused where there is none", async () => {
    for (const kernels of ["wasm", "plain"] as const) {
      await expect(train(options({ kernels, bf16: true }))).rejects.toMatchObject({
        code: "KERNELS_UNAVAILABLE",
        message: expect.stringContaining(`the ${kernels} kernels have none`),
      });
    }
  });

  test("threads are refused of kernels that have none, with what to write instead", async () => {
    const devices = parseDevices("cpu,cpu:4@0.5");
    await expect(train(options({ kernels: "wasm", devices }))).rejects.toMatchObject({
      code: "DEVICE_SPEC",
      message: expect.stringMatching(/"cpu:4@0\.5" has 4 threads.*wasm.*4\*cpu@0\.5/),
    });
  });

  test("a recording made with an instruction set that is not there can't be replayed", async () => {
    const { events } = await recorded({ kernels: "plain", policy: policy({ epochs: 1 }) });
    const foreign = { name: "native", isa: "neon" as "avx2", threads: 1, bf16: false } as const;
    const devices = devicesOf(events).map((device) => ({ ...device, runs: foreign }));
    await expect(
      replay({ ...options({ policy: policy({ epochs: 1 }) }), devices, events: ofPolicy(events) }),
    ).rejects.toMatchObject({ code: native.available ? "ISA_UNSUPPORTED" : "NATIVE_UNAVAILABLE" });
  });
});

test("what kernels refuse crosses from a device with its code", async () => {
  const names = ["global", "gradient:0:0"] as const;
  const [target, source] = names;
  const rows = [{ epoch: 0, start: 0, count: 8 }];
  const script = scriptPolicy(names, [
    [{ type: "accumulate", device: 0, rows, model: target, into: source }],
    [{ type: "apply", device: 0, source, target, scale: 1e42 }],
  ]);
  const policyOfOne: typeof script = {
    ...script,
    next: (state, event) =>
      event.type === "lost" ? [state, [stop("devices")]] : script.next(state, event),
  };
  const wild = options({
    devices: parseDevices("cpu"),
    policy: policyOfOne,
    deviceRetries: 0,
  });
  for (const kernels of native.available ? (["native", "wasm"] as const) : (["wasm"] as const)) {
    await expect(train({ ...wild, kernels })).rejects.toMatchObject({
      code: "NO_DEVICES",
      cause: {
        code: "DEVICE_FAILED",
        cause: { name: "CpuKernelsError", code: "KERNEL_ARGUMENT" },
      },
    });
  }
});

describe("what was decided is recorded", () => {
  let start: StartRecord;
  beforeAll(async () => {
    const { events } = await recorded({ policy: policy({ epochs: 1 }) });
    start = events.find((event) => event.type === "start") as StartRecord;
  });

  test("native kernels where there are any, else WebAssembly and why", () => {
    expect(start.nativeUnavailable).toBe(native.available ? null : without);
    const name = native.available ? "native" : "wasm";
    expect(start.devices.map(({ runs }) => runs!.name)).toEqual([name, name]);
  });
});
