import { normalizedMerge } from "@heterosgd/merge";
import { adaptiveSgd } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import { builtTrainer } from "./built.js";
import { devicesOf, evaluation, ofPolicy, options, policy, recorded, shape } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

const { evaluateModel, parseDevices, predict, replay, salvageOf, train } = await builtTrainer();

test("two unequal devices train every row once an epoch, both contribute, and the network learns", async () => {
  const { result, events } = await recorded();
  expect(result.reason).toBe("epochs");
  expect(result.rows).toBe(4000);
  expect(result.metrics!.precision[0]).toBeGreaterThan(0.9);

  const seen = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "done") continue;
    for (const { epoch, start, count } of event.rows) {
      for (let row = start; row < start + count; row++) {
        seen.set(`${epoch}:${row}`, (seen.get(`${epoch}:${row}`) ?? 0) + 1);
      }
    }
  }
  expect(seen.size).toBe(4000);
  expect([...seen.values()].every((times) => times === 1)).toBe(true);

  expect(result.devices.reduce((sum, device) => sum + device.rows, 0)).toBe(4000);
  for (const device of result.devices) {
    expect(device.kernels).toMatch(/^(native-.+|wasm)$/);
    expect(device.leastWeight).toBeGreaterThan(0);
    expect(device.lost).toBeNull();
    expect(device.usage!.training).toBeGreaterThan(0);
  }
  expect(events[0]!.type).toBe("start");
  expect(events.at(-1)!.type).toBe("end");
  const times = events.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test.each([
  ["SGD", null],
  ["Adam", { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }],
] as const)("a recording that names no kernels is replayed on plain ones: %s", async (_, rule) => {
  const learningRate = rule === null ? 1 : 0.01;
  const { result, events } = await recorded({
    rule,
    kernels: "plain",
    policy: policy({ learningRate }),
  });
  const replayed = await replay({
    ...options({ rule, policy: policy({ learningRate }) }),
    devices: 2,
    events: ofPolicy(events),
  });
  expect(replayed).toEqual(result.parameters);
});

test("a replay with another seed, or with events missing, is refused", async () => {
  const { events } = await recorded({ policy: policy({ epochs: 1 }) });
  const base = { ...options({ policy: policy({ epochs: 1 }) }), devices: devicesOf(events) };
  const recordedEvents = ofPolicy(events);
  await expect(replay({ ...base, seed: 2, events: recordedEvents })).rejects.toMatchObject({
    code: "REPLAY_MISMATCH",
  });
  await expect(replay({ ...base, events: recordedEvents.slice(0, 5) })).rejects.toMatchObject({
    code: "REPLAY_MISMATCH",
    message: expect.stringContaining("ends before the run does"),
  });
});

test.each([-1, 2, 0.5, "__proto__"])(
  "a recording that names a device %j is refused",
  async (device) => {
    const { events } = await recorded({ policy: policy({ epochs: 1 }) });
    const others = ofPolicy(events).map((event) =>
      event.type === "done" ? { ...event, device: device as number } : event,
    );
    const again = { ...options({ policy: policy({ epochs: 1 }) }), devices: devicesOf(events) };
    await expect(replay({ ...again, events: others })).rejects.toMatchObject({
      code: "REPLAY_MISMATCH",
      message: expect.stringContaining(`there is no device ${device}`) as string,
    });
  },
);

test("two runs with one seed and one device are equal to the last bit, another seed is not", async () => {
  const devices = parseDevices("cpu");
  const first = await train(options({ devices }));
  const second = await train(options({ devices }));
  const other = await train(options({ devices, seed: 2 }));
  expect(second.parameters).toEqual(first.parameters);
  expect(second.metrics).toEqual(first.metrics);
  expect(other.parameters).not.toEqual(first.parameters);
});

test("evaluating the returned model gives the run's last metrics, on any number of devices", async () => {
  const { parameters, metrics } = await train(options({ policy: policy({ epochs: 1 }) }));
  for (const devices of ["cpu", "3*cpu@0.9"]) {
    const again = await evaluateModel({
      shape,
      parameters,
      dataset: evaluation,
      devices: parseDevices(devices),
    });
    expect(again.precision).toEqual(metrics!.precision);
    again.ndcg.forEach((value, i) => expect(value).toBeCloseTo(metrics!.ndcg[i]!, 12));
  }
});

test("predictions agree with the metrics and are probabilities, best first", async () => {
  const { parameters, metrics } = await train(options({ policy: policy({ epochs: 1 }) }));
  let hits = 0;
  let row = 0;
  for await (const predictions of predict({ shape, parameters, dataset: evaluation, k: 10 })) {
    const scores = predictions.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 5);
    const start = evaluation.labels.offsets[row]!;
    if (evaluation.labels.indices[start] === predictions[0]!.label) hits++;
    row++;
  }
  expect(row).toBe(evaluation.rows);
  expect(hits / row).toBe(metrics!.precision[0]);
});

test("a target ends the run at the evaluation that reaches it", async () => {
  const { result, events } = await recorded({
    policy: policy({ epochs: 50 }),
    target: { metric: "P", k: 1, atLeast: 0.8 },
  });
  expect(result.reason).toBe("target");
  expect(result.rows).toBeLessThan(50_000);
  expect(result.metrics!.precision[0]).toBeGreaterThanOrEqual(0.8);
  const evaluations = events.filter(({ type }) => type === "evaluation");
  expect(evaluations.at(-1)).toMatchObject({ metrics: result.metrics });
});

test("a time limit merges what is trained, evaluates and stops", async () => {
  const { result } = await recorded({ policy: policy({ epochs: 1e6 }), maxSeconds: 0.3 });
  expect(result.reason).toBe("time");
  expect(result.rows).toBeGreaterThan(0);
  const { precision } = await evaluateModel({
    shape,
    parameters: result.parameters,
    dataset: evaluation,
    devices: parseDevices("cpu"),
  });
  expect(precision).toEqual(result.metrics!.precision);
});

test("a signal that comes before the first batch ends the run at once, untrained", async () => {
  const signal = AbortSignal.abort();
  const { result } = await recorded({ signal });
  expect(result.reason).toBe("signal");
  expect(result.metrics).not.toBeNull();
});

test("divergence names the device, the rows and the learning rate, and the last merged model survives", async () => {
  const failed = train(
    options({ policy: policy({ epochs: 50, momentum: 0, learningRate: 1e30 }) }),
  );
  await expect(failed).rejects.toMatchObject({
    code: "DIVERGED",
    message: expect.stringMatching(
      /device \d \(cpu.*\), rows \d+ to \d+ of epoch \d+ at learning rate 1e\+30/,
    ),
  });
  const salvage = salvageOf(await failed.catch((error: unknown) => error));
  expect(salvage).toBeDefined();
});

test("without an evaluation set there are no metrics", async () => {
  const { metrics } = await train(options({ evaluation: null, policy: policy({ epochs: 1 }) }));
  expect(metrics).toBeNull();
});

test("cut-offs beyond the number of labels are left out", async () => {
  const small = { ...shape, labels: 10 };
  const { metrics } = await train(
    options({ shape: small, cutoffs: [1, 5, 20], policy: policy({ epochs: 1 }) }),
  );
  expect(metrics!.cutoffs).toEqual([1, 5]);
});

test("a data set wider than the network is refused with both numbers", async () => {
  await expect(train(options({ shape: { ...shape, features: 39 } }))).rejects.toMatchObject({
    code: "DATA_MISMATCH",
    message: expect.stringContaining("40 features"),
  });
});

test("epochs so short that many are in flight at once still give every row once", async () => {
  const tiny = syntheticRows(3);
  const { result, events } = await recorded({
    train: tiny,
    evaluation: null,
    devices: parseDevices("4*cpu"),
    policy: adaptiveSgd({
      epochs: 40,
      schedule: { kind: "constant", rate: 0.1 },
      merge: normalizedMerge(),
      batch: { max: 32 },
      megaBatchRows: 60,
    }),
  });
  expect(result.rows).toBe(120);
  const epochs = new Set(
    events.flatMap((e) => (e.type === "done" ? e.rows.map((r) => r.epoch) : [])),
  );
  expect(epochs.size).toBe(40);
});
