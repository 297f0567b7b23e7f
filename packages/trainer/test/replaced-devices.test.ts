/** Lost devices are opened anew, as new ones; a run that loses its only one goes on. */
import { countRows } from "@heterosgd/scheduler";
import { describe, expect, test } from "vitest";
import { parseDevices, salvageOf, type RunEvent } from "../src/index.js";
import type { DeviceApi } from "../src/device/api.js";
import {
  expectAllRowsOnce,
  expectEachRowOnce,
  expectReplayed,
  isType,
  ROWS,
  runOf,
} from "./incidents.js";
import { mortalWorker, type Fate } from "./mortal.js";

const ends = ["exit before", "exit after", "throw", "hang", "nonsense", "wrong size"] as const;
/** A batch that takes longer hangs. */
const pace = { firstMs: 3000, leastMs: 3000 };

const accumulating = new Set(["abs-sgd", "sync", "crossbow", "async", "ssp"]);
const trainingCall = (name: string) => (accumulating.has(name) ? "accumulate" : "step");

const kinds = ["local", "adaptive-sgd", "abs-sgd", "async", "hogwild"];

describe.each(kinds)("%s", (name) => {
  test.each(ends)("goes on if its only device fails (%s), on a new one", async (end) => {
    const fate: Fate = { devices: [0], method: trainingCall(name), call: 5, end };
    const run = await runOf(name, {
      devices: parseDevices("cpu"),
      workerUrl: mortalWorker(fate),
      pace,
    });
    const { result, events } = run;
    expect(result.reason).toBe("epochs");
    expectAllRowsOnce(run);
    expect(events.filter(isType("lost"))).toMatchObject([{ device: 0, retry: 1 }]);
    expect(events.filter(isType("joined"))).toMatchObject([
      { device: { id: 1 }, name: "device 1 (cpu)", replaces: { device: 0, retry: 1 } },
    ]);
    const [lost, replacement] = result.devices;
    expect(lost!.lost).toMatch(reasons[end]);
    expect(replacement).toMatchObject({ device: 1, lost: null, replaces: 0 });
    expect(replacement!.rows).toBeGreaterThan(0);
    expect(replacement!.usage!.training).toBeGreaterThan(0);
    expect(result.metrics!.rows).toBe(60);
    await expectReplayed(run, name);
  });

  test.each(["throw", "hang"] as const)(
    "has a new device beside the others in place of one that fails (%s)",
    async (end) => {
      const ending = new AbortController();
      const fate: Fate = { devices: [1], method: trainingCall(name), call: 3, end };
      let done = 0;
      const run = await runOf(
        name,
        {
          devices: parseDevices("2*cpu"),
          workerUrl: mortalWorker(fate),
          pace,
          signal: ending.signal,
          onEvent(event) {
            if (event.type === "done" && event.device === 2 && ++done === 3) ending.abort();
          },
        },
        { epochs: 1e6 },
      );
      const { result } = run;
      expect(result.reason).toBe("signal");
      expect(result.devices).toMatchObject([
        { device: 0, lost: null, replaces: null },
        { device: 1, lost: expect.stringMatching(reasons[end]), replaces: null },
        { device: 2, lost: null, replaces: 1 },
      ]);
      expect(result.devices[2]!.rows).toBeGreaterThan(0);
      expect(result.devices[2]!.updates).toBeGreaterThan(0);
      // What was given out last may be on its way back still.
      expectEachRowOnce(run, Math.max(0, Math.floor(result.rows / ROWS) - 2));
      await expectReplayed(run, name);
    },
  );
});

const reasons = {
  "exit before": /exit code 3/,
  "exit after": /exit code 3/,
  throw: /out of memory/,
  hang: /has not answered for 3 s/,
  nonsense: /it answered with NaN seconds of training/,
  "wrong size": /it answered with a batch of -1 non-zeros/,
  NaN: /never/,
};

/** Each kind of call that an algorithm makes, and how its only device meets its end there. */
const moments: readonly (readonly [string, keyof DeviceApi, number, Fate["end"]])[] = [
  ["local", "pull", 3, "throw"],
  ["local", "push", 2, "exit after"],
  ["local", "push", 2, "wrong size"],
  ["local", "blend", 2, "exit before"],
  ["local", "blend", 2, "nonsense"],
  ["local", "evaluate", 1, "exit before"],
  ["local", "evaluate", 2, "wrong size"],
  ["local", "addPermutation", 1, "throw"],
  ["easgd", "blend", 3, "exit after"],
  ["easgd", "push", 1, "throw"],
  ["easgd", "refresh", 1, "throw"],
  ["crossbow", "blend", 4, "exit before"],
  ["abs-sgd", "push", 2, "throw"],
  ["abs-sgd", "blend", 2, "exit after"],
  ["abs-sgd", "evaluate", 1, "nonsense"],
  ["adaptive-sgd", "push", 1, "nonsense"],
  ["adaptive-sgd", "blend", 1, "throw"],
  ["async", "apply", 3, "exit before"],
  ["async", "apply", 3, "nonsense"],
  ["async", "pull", 2, "throw"],
  ["ssp", "apply", 2, "throw"],
];

test.each(moments)(
  "%s goes on if its only device is lost at its %s number %i (%s)",
  async (name, method, call, end) => {
    const run = await runOf(name, {
      devices: parseDevices("cpu"),
      workerUrl: mortalWorker({ devices: [0], method, call, end }),
    });
    expect(run.result.reason).toBe("epochs");
    expect(run.result.devices).toHaveLength(2);
    expectAllRowsOnce(run);
    expect(run.result.metrics!.rows).toBe(60);
    await expectReplayed(run, name);
  },
);

test("a device that fails again and again is given up, and the run with it", async () => {
  const events: RunEvent[] = [];
  const failed = runOf("local", {
    devices: parseDevices("cpu"),
    workerUrl: mortalWorker({ devices: [0, 1, 2], method: "step", call: 12, end: "throw" }),
    onEvent: (event) => events.push(event),
  });
  const error: unknown = await failed.catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "NO_DEVICES",
    message: expect.stringMatching(/no device is left .* device 0 .* \(and 2 more/),
    cause: { code: "DEVICE_FAILED" },
  });
  expect(events.filter(isType("lost"))).toMatchObject([
    { device: 0, retry: 1 },
    { device: 1, retry: 2 },
    { device: 2, retry: null, reason: expect.stringMatching(/; given up after 2 retries$/) },
  ]);
  const { parameters, rows } = salvageOf(error)!;
  expect(parameters).not.toBeNull();
  expect(rows).toBeGreaterThan(0);
});

test("a device that can't be opened anew is tried again, then given up with the reasons", async () => {
  const ending = new AbortController();
  let failures = 0;
  const { result, events } = await runOf(
    "local",
    {
      devices: parseDevices("2*cpu"),
      workerUrl: mortalWorker(
        { devices: [1], method: "step", call: 2, end: "throw" },
        { devices: [2], method: "open", call: 1, end: "wrong size" },
      ),
      signal: ending.signal,
      onEvent(event) {
        if (event.type === "retry-failed" && ++failures === 2) ending.abort();
      },
    },
    { epochs: 1e6 },
  );
  expect(result.reason).toBe("signal");
  const opened = "it answered with 0 models, asked for 1";
  expect(events.filter(isType("retry-failed"))).toMatchObject([
    { device: 1, retry: 1, reason: expect.stringContaining(opened) },
    { device: 1, retry: 2, reason: expect.stringContaining(opened) },
  ]);
  expect(result.devices).toHaveLength(2);
  expect(result.devices[1]!.lost).toMatch(
    /out of memory; retry 1 failed: .*0 models.*; retry 2 failed: .*0 models/,
  );
});

test("without retries a lost device stays lost", async () => {
  const { result, events } = await runOf("local", {
    devices: parseDevices("2*cpu"),
    workerUrl: mortalWorker({ devices: [1], method: "step", call: 2, end: "throw" }),
    deviceRetries: 0,
  });
  expect(result.reason).toBe("epochs");
  expect(events.filter(isType("lost"))).toMatchObject([{ device: 1, retry: null }]);
  expect(result.devices[1]!.lost).toMatch(/out of memory$/);
});

test("with fewer devices than it needs a run merges what it has, and ends", async () => {
  const events: RunEvent[] = [];
  const failed = runOf(
    "local",
    {
      devices: parseDevices("3*cpu"),
      workerUrl: mortalWorker({ devices: [1, 2], method: "step", call: 3, end: "exit before" }),
      deviceRetries: 0,
      minDevices: 2,
      onEvent: (event) => events.push(event),
    },
    { epochs: 1e6 },
  );
  const error: unknown = await failed.catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "NO_DEVICES",
    message: expect.stringMatching(
      /^of at least 2 devices only 1 is left to train on: device [12]/,
    ),
  });
  expect(events.filter(isType("finish"))).toMatchObject([{ reason: "devices" }]);
  const { parameters, rows } = salvageOf(error)!;
  expect(parameters).not.toBeNull();
  const merged = events.filter(isType("round")).reduce((sum, round) => sum + round.rows, 0);
  const lost = new Set(events.filter(isType("lost")).map(({ device }) => device));
  const survived = events
    .filter(isType("done"))
    .filter(({ device }) => !lost.has(device))
    .reduce((sum, { rows: ranges }) => sum + countRows(ranges), 0);
  expect(merged).toBeGreaterThanOrEqual(survived);
  expect(rows).toBeGreaterThanOrEqual(merged);
});

test("a loss of NaN is divergence, which no new device helps", async () => {
  const failed = runOf("local", {
    devices: parseDevices("2*cpu"),
    workerUrl: mortalWorker({ devices: [1], method: "step", call: 2, end: "NaN" }),
  });
  await expect(failed).rejects.toMatchObject({
    code: "DIVERGED",
    message: expect.stringMatching(/the loss is NaN on device 1 \(cpu\), rows .* at learning rate/),
  });
});

test.each([
  [{ deviceRetries: -1 }, "deviceRetries is -1"],
  [{ retryDelayMs: 0.5 }, "retryDelayMs is 0.5"],
  [{ minDevices: 0 }, "minDevices is 0"],
  [{ minDevices: 3 }, "needs 3 devices (minDevices), but 2 are named"],
])("%o is refused", async (options, message) => {
  const failed = runOf("local", { devices: parseDevices("2*cpu"), ...options });
  await expect(failed).rejects.toMatchObject({
    code: "BAD_OPTION",
    message: expect.stringContaining(message),
  });
});
