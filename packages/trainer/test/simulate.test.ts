/** Every algorithm in the simulator: the arithmetic of real devices, on a clock that is exact. */
import { algorithms, countRows } from "@heterosgd/scheduler";
import { describe, expect, test } from "vitest";
import { combine, exactGradients, type Vector } from "./formulas.js";
import { initialise, parameterLayout, rowNorm } from "@heterosgd/model";
import {
  builtInProfiles,
  parseSimulatedDevices,
  replay,
  salvageOf,
  simulate,
  type RunEvent,
  type SimulateOptions,
} from "../src/index.js";
import { names, raceFree, smallPolicy } from "./small-algorithms.js";
import { profile } from "./small-profile.js";
import { evaluation, ofPolicy, devicesOf, options, shape } from "./small-run.js";

const ROWS = 1000;
const EPOCHS = 3;

const devicesFor = (name: string, incidents = false) => {
  const isMixed = name.includes("hogbatch");
  const leaving = incidents ? ":leaves=0.05" : "";
  const second = isMixed ? `acc${leaving}` : `gpu${leaving}@0.5`;
  const third = incidents ? `,gpu:joins=0.02@0.8` : "";
  return parseSimulatedDevices(`gpu,${second}${third}`, profile);
};

function small(name: string, changes: Partial<SimulateOptions> = {}): SimulateOptions {
  const { devices: _devices, workerUrl: _url, ...same } = options();
  return {
    ...same,
    profile,
    devices: devicesFor(name),
    policy: smallPolicy(name, { epochs: EPOCHS }),
    ...changes,
  };
}

async function recorded(simulation: SimulateOptions) {
  const events: RunEvent[] = [];
  const result = await simulate({ ...simulation, onEvent: (event) => events.push(event) });
  return { result, events };
}

const reportsOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "merge" || event.type === "round" ? [event] : []));

describe.each(names)("%s", (name) => {
  test("trains every row once an epoch, learns, and is the same again to the last bit", async () => {
    const { result, events } = await recorded(small(name));
    expect(result.reason).toBe("epochs");
    const times = new Uint8Array(EPOCHS * ROWS);
    for (const event of events) {
      if (event.type !== "done") continue;
      for (const { epoch, start, count } of event.rows) {
        for (let row = start; row < start + count; row++) times[epoch * ROWS + row]!++;
      }
    }
    expect(times.every((count) => count === 1)).toBe(true);
    expect(result.metrics!.precision[0]).toBeGreaterThan(0.5);
    const at = events.map((event) => event.at);
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(result.seconds).toBe(at.at(-1));

    const again = await recorded(small(name));
    expect(again.events).toEqual(events);
    expect(again.result.parameters).toEqual(result.parameters);
  });

  test("loses nothing and gives nothing twice where a device leaves and another joins", async () => {
    const { result, events } = await recorded(small(name, { devices: devicesFor(name, true) }));
    expect(result.reason).toBe("epochs");
    expect(events.some(({ type }) => type === "joined")).toBe(true);
    expect(result.devices.some(({ lost }) => lost !== null)).toBe(true);
    expect(reportsOf(events).reduce((sum, { rows }) => sum + rows, 0)).toBe(EPOCHS * ROWS);
    const joined = result.devices.at(-1)!;
    expect(joined.rows).toBeGreaterThan(0);
    expect(result.metrics!.precision[0]).toBeGreaterThan(0.5);
  });
});

describe.each(raceFree)("%s", (name) => {
  test.each([false, true])(
    "comes to the same parameters by a replay of its events (incidents: %s)",
    async (incidents) => {
      const simulation = small(name, { devices: devicesFor(name, incidents) });
      const { result, events } = await recorded(simulation);
      const again = await replay({
        ...simulation,
        devices: devicesOf(events),
        events: ofPolicy(events),
      });
      expect(again).toEqual(result.parameters);
    },
  );
});

test("a device that would have joined after the end of a run has no part in a replay", async () => {
  const devices = parseSimulatedDevices("gpu,gpu@0.5,gpu:joins=1e6", profile);
  const simulation = small("sync", { devices, policy: smallPolicy("sync", { epochs: 1 }) });
  const { result, events } = await recorded(simulation);
  expect(events.some(({ type }) => type === "joined")).toBe(false);
  const started = devicesOf(events);
  expect(started.map(({ joins }) => joins)).toEqual([undefined, undefined, 1e6]);
  const again = await replay({ ...simulation, devices: started, events: ofPolicy(events) });
  expect(again).toEqual(result.parameters);
});

test("an asynchronous gradient is of the model as it was when it was begun", async () => {
  const simulation = small("async", { shape: { ...shape, activation: "tanh" }, evaluation: null });
  const { result, events } = await recorded({
    ...simulation,
    // A link that takes no time: what a device reads is the model of the moment.
    profile: { ...profile, link: { latency: 0, bandwidth: 1e300 } },
    policy: algorithms["async"]!.create({
      epochs: 1,
      schedule: { kind: "constant", rate: 0.5 },
      evaluateEvery: "never",
      own: { batch: 16 },
    }),
  });
  const gradient = exactGradients(simulation);
  const layout = parameterLayout(simulation.shape);
  const initial = new Float32Array(layout.length);
  initialise(layout, initial, simulation.seed, { rowNorm: rowNorm(simulation.train.features) });
  let model: Vector = Float64Array.from(initial);
  const copies: Vector[] = [model, model];
  const pending: (Vector | null)[] = [null, null];
  let stale = 0;
  let furthest = 0;
  for (const event of events) {
    if (event.type === "done") {
      const { sum, loss } = await gradient(event.rows, copies[event.device]!);
      furthest = Math.max(furthest, Math.abs(loss - event.loss) / (1 + loss));
      pending[event.device] = sum;
    }
    if (event.type === "applied") {
      if (copies[event.device] !== model) stale++;
      model = combine([1, model], [-0.5 / 16, pending[event.device]!]);
      copies[event.device] = model;
    }
  }
  expect(stale).toBeGreaterThan(10);
  expect(furthest).toBeLessThan(1e-4);
  const difference = Math.max(...model.map((value, i) => Math.abs(value - result.parameters[i]!)));
  expect(difference).toBeLessThan(1e-5);
});

describe("virtual time", () => {
  const exact = (text: string, changes: Partial<SimulateOptions> = {}) =>
    small("sync", {
      devices: parseSimulatedDevices(text, profile),
      profile: { ...profile, link: { latency: 0.25, bandwidth: 1e300 } },
      train: options().evaluation!,
      evaluation: null,
      policy: smallPolicy("sync", { epochs: 1 }),
      ...changes,
    });

  test("is the slowest device's and a reduction's, round by round", async () => {
    // 200 rows in rounds of 2 · 16: seven, the last a short one.
    expect((await simulate(exact("2*exact"))).seconds).toBeCloseTo(7 * 1.25, 9);
    expect((await simulate(exact("exact,exact@0.5"))).seconds).toBeCloseTo(7 * 2.25, 9);
    expect((await simulate(exact("exact,exact@2"))).seconds).toBeCloseTo(7 * 1.25, 9);
  });

  test("follows a speed that changes", async () => {
    const devices = [
      {
        kind: "exact",
        speed: [
          [0, 1],
          [1.75, 0.5],
        ] as const,
      },
      { kind: "exact" },
    ];
    // The second round begins at 1.25 s, does half a second's work, and needs twice as long for the rest.
    const { seconds } = await simulate(exact("exact", { devices }));
    expect(seconds).toBeCloseTo(1.25 + 1.75 + 5 * 2.25, 9);
  });

  test("ends a run at a limit, and evaluations take none unless it is asked for", async () => {
    const limited = await simulate(exact("2*exact", { maxSeconds: 3 }));
    expect(limited).toMatchObject({ reason: "time", rows: 3 * 32 });
    const free = await simulate(small("sync"));
    const counted = await simulate(small("sync", { countEvaluation: true }));
    expect(counted.seconds).toBeGreaterThan(free.seconds);
    expect(counted.parameters).toEqual(free.parameters);
    // Three evaluations by both devices: a third of what training on these rows takes.
    const { rows, features } = evaluation;
    const work = 1e-4 * rows + 1e-5 * features.indices.length;
    expect(counted.seconds - free.seconds).toBeCloseTo((EPOCHS * (work / 3)) / 1.5, 6);
  });

  test("a time that no device is there for ends the run with an error", async () => {
    const gone = parseSimulatedDevices("exact:leaves=2", profile);
    const error: unknown = await simulate(exact("exact", { devices: gone })).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: "NO_DEVICES",
      message: expect.stringContaining("left the simulation at 2 s"),
    });
    // The second of two rounds of a second and a quarter was under way.
    const salvage = salvageOf(error)!;
    const merged = await simulate(exact("exact", { maxSeconds: 1 }));
    expect(merged.rows).toBe(16);
    expect(salvage.parameters).toEqual(merged.parameters);
    const late = parseSimulatedDevices("exact:joins=2", profile);
    await expect(simulate(exact("exact", { devices: late }))).rejects.toMatchObject({
      code: "NO_DEVICES",
    });
  });

  test("ABS-SGD computes while it reduces", async () => {
    const slow = { ...profile, link: { latency: 0.5, bandwidth: 1e300 } };
    const devices = parseSimulatedDevices("2*exact", slow);
    const simulation = small("abs-sgd", { profile: slow, devices, evaluation: null });
    const { result } = await recorded({ ...simulation, train: options().evaluation! });
    const abs = result.devices[0]!.usage!;
    // A reduction of half a second fits into each second of computing: nobody waits but at the ends.
    expect(abs.waiting).toBeLessThan(0.1 * result.seconds);
    const sync = await simulate({
      ...simulation,
      train: options().evaluation!,
      policy: smallPolicy("sync", { epochs: EPOCHS }),
    });
    expect(sync.devices[0]!.usage!.waiting).toBeGreaterThan(0.3 * sync.seconds);
  });

  test("a reduction begins when the last sum is frozen, whatever devices are computing", async () => {
    const { events } = await recorded(exact("2*exact", { policy: smallPolicy("abs-sgd") }));
    const blended = events.filter(({ type }) => type === "blended").map(({ at }) => at);
    // A micro-batch takes a second, and all freeze at its end.
    for (const [i, at] of blended.slice(0, 5).entries()) expect(at).toBeCloseTo(i + 1.25, 9);
    expect(blended.length).toBeGreaterThan(5);
  });
});

test("a shared model's steps land when they are complete: hosts don't see each other's before", async () => {
  const simulation = small("hogwild", {
    evaluation: null,
    policy: smallPolicy("hogwild", { epochs: 1 }),
  });
  const together = await simulate({
    ...simulation,
    devices: parseSimulatedDevices("2*gpu", profile),
  });
  const alone = await simulate({ ...simulation, devices: parseSimulatedDevices("gpu", profile) });
  expect(together.rows).toBe(alone.rows);
  expect(together.seconds).toBeLessThan(0.6 * alone.seconds);
  expect(together.parameters).not.toEqual(alone.parameters);
});

test("every profile that is shipped runs, and says that its numbers are assumptions", async () => {
  for (const [name, shipped] of Object.entries(builtInProfiles)) {
    expect(shipped.measured, name).toBe(false);
    expect(shipped.description, name).toMatch(/assumptions, not measurements/);
    const { events, result } = await recorded({
      ...small("adaptive-sgd", { policy: smallPolicy("adaptive-sgd", { epochs: 1 }) }),
      profile: shipped,
      devices: shipped.devices,
    });
    expect(result.rows).toBe(ROWS);
    expect(events[0]).toMatchObject({ type: "start", simulated: { profile: name } });
    expect(countRows(events.flatMap((e) => (e.type === "done" ? e.rows : [])))).toBe(ROWS);
  }
});
