import { describe, expect, it } from "vitest";
import { adaptiveSgd } from "../src/index.js";
import type { Command } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import { byUpdates, commandsOf, done, drive, pushed } from "./support.js";

describe("Adaptive SGD's queues", () => {
  const policy = adaptiveSgd({
    epochs: 1,
    schedule: { kind: "constant", rate: 0.1 },
    merge: byUpdates,
    batch: { max: 1, min: 1 },
    megaBatchRows: 24,
  });
  const devices = [
    { id: 0, maxBatchRows: 1 },
    { id: 1, maxBatchRows: 1 },
  ];
  const given = (commands: readonly Command[], device: number) =>
    commandsOf([commands], "step").filter((step) => step.device === device).length;

  it("are as deep as batches are short, two at least and four at most", () => {
    for (const [seconds, depth] of [
      [1, 2],
      [0.04, 2],
      [0.033, 3],
      [0.02, 4],
      [0.001, 4],
      [0, 4],
    ] as const) {
      const { commands, send } = drive(policy, { devices, rows: 24, parameters: 4 });
      expect(given(commands(), 0)).toBe(2);
      // One of two is answered.
      const next = send(done(0, seconds));
      expect(given(next, 0), `${seconds} s`).toBe(depth - 1);
      expect(given(next, 1)).toBe(0);
    }
  });

  it("become shorter towards the end of a mega-batch, and one batch at its end", () => {
    const { commands, send, state } = drive(policy, { devices, rows: 24, parameters: 4 });
    let left = 24 - commandsOf([commands()], "step").length;
    const outstanding = [2, 2];
    const depths: number[] = [];
    while (left > 0) {
      const device = outstanding[0]! >= outstanding[1]! ? 0 : 1;
      outstanding[device]!--;
      for (const { device: id } of commandsOf([send(done(device, 0.001))], "step")) {
        outstanding[id]!++;
        depths.push(outstanding[id]!);
        // What is left gives each device half as many.
        const most = left < 2 ? 1 : Math.min(4, Math.max(2, Math.floor(left / 4)));
        expect(outstanding[id], `${left} left`).toBeLessThanOrEqual(most);
        left--;
      }
    }
    expect(Math.max(...depths)).toBe(4);
    expect(depths.at(-1)).toBe(1);
    expect(state().devices.map((device) => device.outstanding)).toEqual(outstanding);
  });
});

describe("Adaptive SGD on ten rows and two devices", () => {
  const policy = adaptiveSgd({
    epochs: 1,
    schedule: { kind: "constant", rate: 0.1 },
    merge: { ...byUpdates, needsNorm: true, momentum: 0.5 },
    batch: { max: 2, min: 1 },
    megaBatchRows: 6,
    evaluateEvery: "merge",
  });
  const devices = [
    { id: 0, maxBatchRows: 50 },
    { id: 1, maxBatchRows: 50 },
  ];
  const pulls: readonly Command[] = devices.map(({ id }) => ({ type: "pull", device: id }));
  const push = (device: number): Command => ({ type: "push", device, norm: true });
  const step = (device: 0 | 1, start: number, count: number, learningRate: number): Command => ({
    type: "step",
    device,
    rows: [{ epoch: 0, start, count }],
    learningRate,
    model: `replica:${device}`,
  });
  const rotate: Command = { type: "rotate", names: ["previous", "global", "next"] };

  it("needs the previous model for its momentum", () => {
    expect(policy.models(devices)).toEqual([
      "global",
      "next",
      "previous",
      "replica:0",
      "replica:1",
    ]);
  });

  it("gives the commands that were worked out by hand", () => {
    const { commands, send } = drive(policy, { devices, rows: 10, parameters: 4 });

    // Six rows to give, of which the first two batches leave fewer than both could take: one each.
    expect(commands()).toEqual([...pulls, step(0, 0, 2, 0.1), step(1, 2, 2, 0.1)]);
    expect(send(done(0))).toEqual([step(0, 4, 2, 0.1), push(0), push(1)]);
    expect(send(done(1))).toEqual([]);
    expect(send(pushed(1, 3))).toEqual([]);
    expect(send(done(0))).toEqual([]);

    // u = 2, 1. The first merge has no momentum.
    const first = [
      { model: "replica:0", coefficient: 2 / 3 },
      { model: "replica:1", coefficient: 1 / 3 },
    ] as const;
    expect(send(pushed(0, 3))).toEqual([
      { type: "blend", id: 1, target: "next", terms: first, stateTerms: first },
    ]);
    // 2·(1 + 0.75·0.5/1.5) = 2.5 and 2·(1 − 0.25) = 1.5, times 2/2.5: 2 and 1.2.
    expect(send({ type: "blended", id: 1 })).toEqual([
      rotate,
      {
        type: "report",
        report: {
          type: "merge",
          merge: 1,
          epoch: 0,
          rows: 6,
          devices: [
            {
              device: 0,
              updates: 2,
              rows: 4,
              batchRows: 2,
              nextBatchRows: 2,
              learningRate: 0.1,
              weight: 2 / 3,
            },
            {
              device: 1,
              updates: 1,
              rows: 2,
              batchRows: 2,
              nextBatchRows: 1,
              learningRate: 0.1,
              weight: 1 / 3,
            },
          ],
          perturbed: false,
          momentum: 0,
        },
      },
      { type: "evaluate", id: 1 },
    ]);

    // Four rows of the epoch are left; half the batch has half the learning rate.
    expect(send({ type: "evaluated", id: 1 })).toEqual([
      ...pulls,
      step(0, 6, 2, 0.1),
      step(1, 8, 1, 0.05),
    ]);
    expect(send(done(1))).toEqual([step(1, 9, 1, 0.05), push(0), push(1)]);
    expect(send(done(1))).toEqual([]);
    expect(send(pushed(1, 3))).toEqual([]);
    expect(send(done(0))).toEqual([]);
    const second = [
      { model: "replica:0", coefficient: 1 / 3 },
      { model: "replica:1", coefficient: 2 / 3 },
    ] as const;
    expect(send(pushed(0, 3))).toEqual([
      {
        type: "blend",
        id: 2,
        target: "next",
        terms: [
          ...second,
          { model: "global", coefficient: 0.5 },
          { model: "previous", coefficient: -0.5 },
        ],
        stateTerms: second,
      },
    ]);
    // u = 1, 2: 2·0.75 and 1.2·1.25 are both 1.5, hence both b_max.
    expect(send({ type: "blended", id: 2 })).toEqual([
      rotate,
      {
        type: "report",
        report: {
          type: "merge",
          merge: 2,
          epoch: 1,
          rows: 4,
          devices: [
            {
              device: 0,
              updates: 1,
              rows: 2,
              batchRows: 2,
              nextBatchRows: 2,
              learningRate: 0.1,
              weight: 1 / 3,
            },
            {
              device: 1,
              updates: 2,
              rows: 2,
              batchRows: 1,
              nextBatchRows: 2,
              learningRate: 0.05,
              weight: 2 / 3,
            },
          ],
          perturbed: false,
          momentum: 0.5,
        },
      },
      { type: "report", report: { type: "epoch", epoch: 0 } },
      { type: "evaluate", id: 2 },
    ]);
    expect(send({ type: "evaluated", id: 2 })).toEqual([
      { type: "stop", reason: "epochs", models: ["global", "previous"] },
    ]);
    expect(send({ type: "finish", reason: "signal" })).toEqual([]);
  });

  it("refuses answers to what it did not ask for", () => {
    const unexpected = expect.objectContaining({ code: "UNEXPECTED_EVENT" }) as Error;
    const { send } = drive(policy, { devices, rows: 10, parameters: 4 });
    expect(() => send(pushed(0))).toThrow(unexpected);
    expect(() => send({ type: "blended", id: 1 })).toThrow(unexpected);
    expect(() => send({ type: "evaluated", id: 0 })).toThrow(unexpected);
    expect(() => send({ type: "applied", device: 0 })).toThrow(unexpected);
    send(done(0), done(0));
    expect(() => send(done(0))).toThrow(unexpected);
  });
});

describe("evaluation", () => {
  // Mega-batches end after 30, 60, 90, 120, 150, 180 and 200 rows.
  it.each([
    ["merge", [1, 2, 3, 4, 5, 6, 7]],
    [3, [3, 6, 7]],
    ["epoch", [4, 7]],
    ["never", [7]],
  ] as const)("takes place as asked for (%s) and at the end", (evaluateEvery, expected) => {
    const policy = adaptiveSgd({
      epochs: 2,
      schedule: { kind: "constant", rate: 1 },
      merge: byUpdates,
      batch: { max: 10 },
      megaBatchRows: 30,
      evaluateEvery,
    });
    const devices = [{ id: 0, maxBatchRows: 10, speed: 1 }];
    const { commands } = runFake(policy, { devices, rows: 100, parameters: 1 });
    expect(commandsOf(commands, "evaluate").map(({ id }) => id)).toEqual(expected);
  });
});

describe("the options of Adaptive SGD", () => {
  const valid = { epochs: 1, schedule: { kind: "constant", rate: 0.1 }, merge: byUpdates } as const;

  it.each([
    { epochs: 0 },
    { epochs: 1.5 },
    { batch: { max: 0 } },
    { batch: { max: 8, min: 9 } },
    { batch: { reference: 0 } },
    { megaBatchRows: 0 },
    { batchScaling: { rule: "relative", gain: 0 } },
    { schedule: { kind: "constant", rate: -1 } },
    { warmupEpochs: -1 },
    { warmupBatch: 129 },
    { evaluateEvery: 0 },
    { maxSteps: 0 },
  ] as const)("do not allow %o", (wrong) => {
    const invalid = expect.objectContaining({ code: "INVALID_OPTION" }) as Error;
    expect(() => adaptiveSgd({ ...valid, ...wrong })).toThrow(invalid);
  });

  it("allow endless training", () => {
    expect(() => adaptiveSgd({ ...valid, epochs: Infinity, maxSteps: 10 })).not.toThrow();
  });

  it("do not excuse a set-up without devices, rows or memory, or with an id twice", () => {
    const invalid = expect.objectContaining({ code: "INVALID_SETUP" }) as Error;
    const policy = adaptiveSgd(valid);
    const one = { id: 0, maxBatchRows: 1 };
    expect(() => policy.start({ devices: [], rows: 1, parameters: 1 })).toThrow(invalid);
    expect(() => policy.start({ devices: [one], rows: 0, parameters: 1 })).toThrow(invalid);
    expect(() => policy.start({ devices: [one, one], rows: 1, parameters: 1 })).toThrow(invalid);
    const none = { id: 0, maxBatchRows: 0 };
    expect(() => policy.start({ devices: [none], rows: 1, parameters: 1 })).toThrow(invalid);
  });
});
