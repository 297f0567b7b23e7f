/** Devices that are added while a run goes on. */
import { nativeSupport } from "@heterosgd/cpu-kernels";
import { algorithms } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import {
  formatDevice,
  parseDevices,
  type DeviceControl,
  type DeviceSpec,
  type RunEvent,
  type TrainOptions,
} from "../src/index.js";
import { expectEachRowOnce, expectReplayed, isType, ROWS, runOf } from "./incidents.js";
import { mortalWorker } from "./mortal.js";
import { syntheticRows } from "./synthetic.js";

const nobody = { devices: [], method: "close", call: 1, end: "throw" } as const;
const [cpu] = parseDevices("cpu") as [DeviceSpec];
const [slow] = parseDevices("cpu@0.5") as [DeviceSpec];
const [accelerator] = parseDevices("cpu:role=accelerator") as [DeviceSpec];

/**
 * A run that ends once the devices with these ids have trained on three batches each, and what
 * `onReady` does is done.
 */
async function until(
  ids: readonly number[],
  algorithm: string,
  onReady: (control: DeviceControl) => Promise<unknown>,
  changes: Partial<TrainOptions> = {},
) {
  const ending = new AbortController();
  const left = new Map(ids.map((id) => [id, 3]));
  let isReady = false;
  const onEvent = (event: RunEvent) => {
    if (event.type !== "done") return;
    const count = left.get(event.device);
    if (count !== undefined) left.set(event.device, count - 1);
    if (isReady && [...left.values()].every((more) => more <= 0)) ending.abort();
  };
  return runOf(
    algorithm,
    {
      devices: parseDevices("cpu"),
      workerUrl: mortalWorker(nobody),
      ...changes,
      signal: ending.signal,
      onReady: (control) => void onReady(control).finally(() => (isReady = true)),
      onEvent,
    },
    { epochs: 1e6 },
  );
}

test.each(Object.keys(algorithms))("%s takes a device in while it trains", async (name) => {
  let added: number | undefined;
  const run = await until([0, 1], name, async (control) => {
    added = await control.add(slow);
  });
  const { result, events } = run;
  expect(added).toBe(1);
  expect(result.reason).toBe("signal");
  expect(events.filter(isType("joined"))).toMatchObject([
    { device: { id: 1 }, name: "device 1 (cpu@0.5)", replaces: null },
  ]);
  expect(result.devices).toMatchObject([
    { device: 0, name: "device 0 (cpu)", lost: null },
    { device: 1, name: "device 1 (cpu@0.5)", lost: null, replaces: null },
  ]);
  expect(result.devices[1]!.rows).toBeGreaterThan(0);
  expect(result.devices[1]!.usage!.training).toBeGreaterThan(0);
  expect(result.metrics!.rows).toBe(60);
  // What was given out last may be on its way back still.
  expectEachRowOnce(run, Math.max(0, Math.floor(result.rows / ROWS) - 2));
  await expectReplayed(run, name);
});

const kinds = ["plain", "wasm", ...(nativeSupport().available ? (["native"] as const) : [])];

test.each(kinds)(
  "several devices join on %s kernels, with an optimiser's state",
  async (kernels) => {
    let added: readonly number[] = [];
    const run = await until(
      [0, 1, 2],
      "adaptive-sgd",
      async (control) => {
        added = await Promise.all([control.add(cpu), control.add(slow)]);
      },
      {
        kernels: kernels as "plain" | "wasm" | "native",
        rule: { name: "adagrad", epsilon: 1e-8 },
        // Some parts for each.
        evaluation: syntheticRows(1000, { seed: 3 }),
      },
    );
    expect(added).toEqual([1, 2]);
    const { result } = run;
    expect(result.devices.map(({ kernels: name }) => name)).toEqual([
      result.devices[0]!.kernels,
      result.devices[0]!.kernels,
      result.devices[0]!.kernels,
    ]);
    for (const { rows, usage } of result.devices) {
      expect(rows).toBeGreaterThan(0);
      expect(usage!.merging).toBeGreaterThan(0);
      expect(usage!.evaluating).toBeGreaterThan(0);
    }
    expect(await run.replayed()).toEqual(result.parameters);
  },
);

test("a device that can't be had is refused, and the run goes on", async () => {
  let refused: readonly unknown[] = [];
  const codeOf = (adding: Promise<number>) =>
    adding.catch((error: { readonly code?: string }) => error.code);
  const run = await until(
    [0],
    "hogwild",
    async (control) => {
      const adding = [accelerator, { ...cpu, threads: 2 }].map((spec) => control.add(spec));
      refused = await Promise.all(adding.map(codeOf));
    },
    { kernels: "plain" },
  );
  expect(refused).toEqual(["INVALID_SETUP", "DEVICE_SPEC"]);
  expect(run.result.devices.map(({ name }) => name)).toEqual([`device 0 (${formatDevice(cpu)})`]);
});

test("a device that fails while it is opened is refused with its error", async () => {
  let refused = "";
  const run = await until(
    [0],
    "local",
    async (control) => {
      refused = await control.add(cpu).then(String, String);
    },
    { workerUrl: mortalWorker({ devices: [1], method: "open", call: 1, end: "throw" }) },
  );
  expect(refused).toContain("out of memory");
  expect(run.result.devices).toHaveLength(1);
});

test("once the run is over, none can be added", async () => {
  let control: DeviceControl | undefined;
  await runOf("local", {
    devices: parseDevices("cpu"),
    workerUrl: mortalWorker(nobody),
    onReady: (its) => (control = its),
  });
  await expect(control!.add(cpu)).rejects.toMatchObject({ code: "RUN_OVER" });
});

test("an added device is opened anew like any other", async () => {
  const run = await until([0, 2], "local", (control) => control.add(slow), {
    workerUrl: mortalWorker({ devices: [1], method: "step", call: 2, end: "throw" }),
  });
  expect(run.result.devices).toMatchObject([
    { lost: null },
    { name: "device 1 (cpu@0.5)", lost: expect.stringContaining("out of memory") },
    { name: "device 2 (cpu@0.5)", lost: null, replaces: 1 },
  ]);
  expect(await run.replayed()).toEqual(run.result.parameters);
});
