import { getEventListeners } from "node:events";
import { normalizedMerge } from "@heterosgd/merge";
import { adaptiveSgd } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import type { RunEvent } from "../src/index.js";
import { builtTrainer } from "./built.js";
import { devicesOf, evaluation, ofPolicy, options, policy, recorded, shape } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

const { evaluateModel, parseDevices, predict, replay, salvageOf, train } = await builtTrainer();

test("an error that an observer throws ends the run, whichever event it is thrown at", async () => {
  for (const type of ["start", "done", "evaluation", "end"]) {
    const failed = train(
      options({
        policy: policy({ epochs: 1 }),
        onEvent(event) {
          if (event.type === type) throw new RangeError(`no ${type}`);
        },
      }),
    );
    await expect(failed).rejects.toThrow(`no ${type}`);
  }
});

test("a target whose cut-off is not computed is refused before anything is trained", async () => {
  const target = { metric: "P", k: 4, atLeast: 0.1 } as const;
  await expect(train(options({ target }))).rejects.toMatchObject({
    code: "BAD_OPTION",
    message: expect.stringContaining("cut-offs are 1, 3, 5"),
  });
});

test("cut-offs that are none are refused before anything is trained", async () => {
  await expect(train(options({ cutoffs: [3, 1] }))).rejects.toThrow("Cut-offs must be ascending");
});

test("no time limit, however it is said, is none", async () => {
  for (const maxSeconds of [Infinity, 1e9]) {
    const { reason } = await train(options({ maxSeconds, policy: policy({ epochs: 1 }) }));
    expect(reason).toBe("epochs");
  }
});

test("no time at all still gives a merged model and its metrics", async () => {
  const { reason, metrics } = await train(options({ maxSeconds: 0 }));
  expect(reason).toBe("time");
  expect(metrics!.rows).toBe(200);
});

test("parameters that overflow in the last update are a divergence, not a result", async () => {
  const failed = train(
    options({
      devices: parseDevices("cpu"),
      evaluation: null,
      train: syntheticRows(8),
      // So large weights that the gradient, times a rate that is just in range, is out of it.
      initialScale: 1000,
      policy: policy({ epochs: 1, momentum: 0, learningRate: 3e38 }),
    }),
  );
  const error: unknown = await failed.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "DIVERGED" });
  expect(salvageOf(error)!.parameters).toBeNull();
});

test("a learning rate that grows beyond float32 is an option that can't be used", async () => {
  const schedule = { kind: "step", rate: 1, everyEpochs: 1, factor: 1e39 } as const;
  const growing = adaptiveSgd({ epochs: 2, schedule, merge: normalizedMerge() });
  await expect(train(options({ policy: growing }))).rejects.toMatchObject({
    code: "BAD_OPTION",
    message: expect.stringMatching(
      /^the learning rate has become 1e\+39 on device \d .*, rows 1 to \d+ of epoch 2, .*3\.403e\+38; try a smaller one$/,
    ),
  });
});

test("a signal that comes while the model is evaluated ends the run after that evaluation", async () => {
  const controller = new AbortController();
  const events: RunEvent[] = [];
  const { reason, metrics } = await train(
    options({
      signal: controller.signal,
      policy: policy({ epochs: 50 }),
      onEvent(event) {
        events.push(event);
        if (event.type === "evaluation") controller.abort();
      },
    }),
  );
  expect(reason).toBe("signal");
  expect(metrics!.rows).toBe(200);
  const first = events.findIndex(({ type }) => type === "evaluation");
  expect(events.slice(first).map(({ type }) => type)).toEqual([
    "evaluation",
    "finish",
    "evaluated",
    "end",
  ]);
});

test("a signal that comes while devices are opened is seen, and no listener stays behind", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const run = train(options({ signal }));
  controller.abort();
  expect((await run).reason).toBe("signal");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("one row, and an evaluation set without rows, are enough for many devices", async () => {
  const { rows: trained, metrics } = await train(
    options({
      train: syntheticRows(1),
      evaluation: syntheticRows(0),
      devices: parseDevices("3*cpu"),
      policy: policy({ epochs: 5, learningRate: 0.1 }),
    }),
  );
  expect(trained).toBe(5);
  expect(metrics).toBeNull();
});

test("a model evaluated on no rows has metrics of 0, on no devices none, on wider rows an error", async () => {
  const { parameters } = await train(options({ policy: policy({ epochs: 1 }) }));
  const base = { shape, parameters, devices: parseDevices("cpu") };
  const none = await evaluateModel({ ...base, dataset: syntheticRows(0) });
  expect(none).toMatchObject({ rows: 0, precision: [0, 0, 0] });
  await expect(evaluateModel({ ...base, dataset: evaluation, devices: [] })).rejects.toMatchObject({
    code: "NO_DEVICES",
  });
  const wide = syntheticRows(5, { features: 50 });
  await expect(evaluateModel({ ...base, dataset: wide })).rejects.toMatchObject({
    code: "DATA_MISMATCH",
  });
  await expect(predict({ ...base, dataset: wide, k: 1 }).next()).rejects.toMatchObject({
    code: "DATA_MISMATCH",
  });
});

test.each([
  ["sigmoid loss, Adagrad", { loss: "sigmoid" }, { name: "adagrad", epsilon: 1e-8 }, 0.1],
  ["three hidden layers, tanh", { hidden: [16, 12, 8], activation: "tanh" }, null, 0.2],
] as const)("%s: two devices learn, and the run is replayed", async (_, change, rule, rate) => {
  const changes = {
    shape: { ...shape, ...change },
    rule,
    policy: policy({ epochs: 8, learningRate: rate }),
  };
  const { result, events } = await recorded(changes);
  expect(result.metrics!.precision[0]).toBeGreaterThan(0.9);
  const again = await replay({
    ...options(changes),
    devices: devicesOf(events),
    events: ofPolicy(events),
  });
  expect(again).toEqual(result.parameters);
});
