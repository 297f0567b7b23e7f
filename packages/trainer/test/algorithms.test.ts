/** Every algorithm on real devices: two workers that are unequal. */
import { nativeSupport } from "@heterosgd/cpu-kernels";
import { algorithms, countRows } from "@heterosgd/scheduler";
import { describe, expect, test } from "vitest";
import type { RunEvent, TrainOptions } from "../src/index.js";
import { builtTrainer } from "./built.js";
import { epochsOf, names, raceFree, small, smallPolicy } from "./small-algorithms.js";
import { devicesOf, ofPolicy, options, recorded } from "./small-run.js";

const { parseDevices, replay, train } = await builtTrainer();

const ROWS = 1000;

test("each algorithm of the registry is tried here", () => {
  expect(Object.keys(small).toSorted()).toEqual(names.toSorted());
});

const setup = (name: string): Partial<TrainOptions> => ({
  devices: parseDevices(small[name]!.devices),
  policy: smallPolicy(name),
});

const dones = (events: readonly RunEvent[]) => events.filter((event) => event.type === "done");

/** Mean loss of an epoch's rows. */
function lossOf(events: readonly RunEvent[], epoch: number): number {
  const its = dones(events).filter(({ rows }) => rows[0]!.epoch === epoch);
  return its.reduce((sum, { loss }) => sum + loss, 0) / ROWS;
}

describe.each(names)("%s", (name) => {
  const epochs = epochsOf(name);

  test("trains every row once an epoch on both devices, and learns", async () => {
    const { result, events } = await recorded(setup(name));
    expect(result.reason).toBe("epochs");
    const times = new Uint8Array(epochs * ROWS);
    for (const { rows } of dones(events)) {
      for (const { epoch, start, count } of rows) {
        for (let row = start; row < start + count; row++) times[epoch * ROWS + row]!++;
      }
    }
    expect(times.every((count) => count === 1)).toBe(true);
    expect(lossOf(events, epochs - 1)).toBeLessThan(0.7 * lossOf(events, 0));
    expect(result.metrics!.precision[0]).toBeGreaterThan(0.6);

    const reports = events.flatMap((event) =>
      event.type === "merge" || event.type === "round" ? [event] : [],
    );
    expect(reports.reduce((sum, { rows }) => sum + rows, 0)).toBe(epochs * ROWS);
    for (const device of result.devices) {
      const own = reports.flatMap(({ devices }) =>
        devices.filter((report) => report.device === device.device),
      );
      expect(device.rows).toBeGreaterThan(0);
      expect(device.rows).toBe(
        dones(events)
          .filter((done) => done.device === device.device)
          .reduce((sum, { rows }) => sum + countRows(rows), 0),
      );
      expect(device.updates).toBeGreaterThan(0);
      expect(device.updates).toBe(own.reduce((sum, { updates }) => sum + updates, 0));
    }
  });
});

test.each(raceFree)("%s is replayed to the last bit", async (name) => {
  const { result, events } = await recorded(setup(name));
  const again = await replay({
    ...options(setup(name)),
    devices: devicesOf(events),
    events: ofPolicy(events),
  });
  expect(again).toEqual(result.parameters);
});

test.each(names.filter((name) => algorithms[name]!.optimizer === "sgd"))(
  "%s refuses an optimiser with a state",
  (name) => {
    const rule = { name: "adagrad", epsilon: 1e-8 } as const;
    return expect(train(options({ ...setup(name), rule }))).rejects.toMatchObject({
      code: "BAD_OPTION",
      message: expect.stringMatching(`${name} .* adagrad`),
    });
  },
);

test("ABS-SGD's updates are exactly one update old", async () => {
  const { result, events } = await recorded(setup("abs-sgd"));
  const rounds = events.flatMap((event) => (event.type === "round" ? [event.devices] : []));
  expect(rounds.length).toBeGreaterThan(20);
  for (const devices of rounds.slice(1)) {
    for (const { staleness } of devices.filter(({ rows }) => rows > 0)) expect(staleness).toBe(1);
  }
  expect(result.devices[0]!.staleness).toBeCloseTo(1, 0);
});

describe("algorithms on one shared model", () => {
  const kinds = ["plain", "wasm", ...(nativeSupport().available ? (["native"] as const) : [])];
  const shared = ["hogwild", "hogbatch", "async"];

  test.each(kinds.flatMap((kernels) => shared.map((name) => [kernels, name] as const)))(
    "%s kernels learn by %s",
    async (kernels, name) => {
      const { result, events } = await recorded({
        ...setup(name),
        kernels: kernels as "plain" | "wasm" | "native",
      });
      expect(lossOf(events, epochsOf(name) - 1)).toBeLessThan(0.7 * lossOf(events, 0));
      expect(result.devices.every(({ updates }) => updates > 0)).toBe(true);
    },
  );

  test.runIf(nativeSupport().available)("threads of one device step without locks", async () => {
    const { result } = await recorded({ ...setup("hogwild"), devices: parseDevices("cpu:2,cpu") });
    expect(result.metrics!.precision[0]).toBeGreaterThan(0.6);
    expect(result.devices[0]!.updates + result.devices[1]!.updates).toBe(
      epochsOf("hogwild") * ROWS,
    );
  });

  test("Hogwild takes an optimiser with a state", async () => {
    const rule = { name: "adagrad", epsilon: 1e-8 } as const;
    const { events } = await recorded({ ...setup("hogwild"), rule });
    expect(lossOf(events, epochsOf("hogwild") - 1)).toBeLessThan(0.7 * lossOf(events, 0));
  });

  test("an accelerator is refused by an algorithm for hosts alone", async () => {
    const devices = parseDevices("cpu,cpu:role=accelerator");
    await expect(train(options({ ...setup("hogwild"), devices }))).rejects.toMatchObject({
      code: "INVALID_SETUP",
    });
  });
});

test("patience ends a run that gets no better", async () => {
  const { result, events } = await recorded({
    ...setup("sync"),
    policy: smallPolicy("sync", { epochs: 1000, rate: 1 }),
    patience: { evaluations: 3 },
  });
  expect(result.reason).toBe("patience");
  const values = events.flatMap((e) => (e.type === "evaluation" ? [e.metrics.precision[0]!] : []));
  expect(values.length).toBeGreaterThan(3);
  expect(values.slice(-3).every((value) => value <= Math.max(...values.slice(0, -3)))).toBe(true);
});
