import { describe, expect, it } from "vitest";
import { absSgd, adaptiveHogbatch, asyncSgd, hogbatch, hogwild, ssp } from "../src/index.js";
import type { DeviceInfo } from "../src/index.js";
import {
  acts,
  applied,
  blended,
  commandsOf,
  done,
  drive,
  evaluated,
  pushed,
  roundReports,
  told,
} from "./support.js";

const { accumulate, apply, blend, evaluate, pull, push, rotate, share, step, stop } = told;

const run = {
  epochs: 1,
  schedule: { kind: "constant", rate: 0.1 },
  evaluateEvery: "never",
} as const;
const hosts = [0, 1].map((id) => ({ id, maxBatchRows: 64 }));
const mixed: readonly DeviceInfo[] = [
  { id: 0, maxBatchRows: 64, threads: 2 },
  { id: 1, maxBatchRows: 64, role: "accelerator" },
];

describe("ABS-SGD on ten rows", () => {
  it("gives the commands that were worked out by hand", () => {
    const policy = absSgd({ ...run, microBatch: 2 });
    const { commands, send } = drive(policy, { devices: hosts, rows: 10, parameters: 4 });
    expect(commands()).toEqual([pull(0), accumulate(0, 0, 2), pull(1), accumulate(1, 2, 2)]);
    // The first freezes at once, and goes on until the other has, which is told to as well.
    expect(send(done(0))).toEqual([
      push(0, "gradient:0:0"),
      pull(0),
      accumulate(0, 4, 2, 1),
      push(1, "gradient:1:0"),
      pull(1),
      accumulate(1, 6, 2, 1),
    ]);
    expect(send(pushed(0))).toEqual([]);
    expect(send(done(0))).toEqual([accumulate(0, 8, 2, 1, false)]);
    // It has come to the border, and is at the first micro-batch of its next sum.
    expect(send(done(1))).toEqual([]);
    expect(send(pushed(1))).toEqual([
      blend(
        1,
        "next",
        { global: 1, "gradient:0:0": -0.025, "gradient:1:0": -0.025 },
        { global: 1 },
      ),
    ]);
    // Both are in the middle of a micro-batch when the update is made, and freeze behind it.
    expect(acts(send(blended(1)))).toEqual([
      rotate("global", "next"),
      push(0, "gradient:0:1"),
      pull(0),
      push(1, "gradient:1:1"),
      pull(1),
    ]);
    expect(send(done(1), pushed(1), done(0))).toEqual([]);
    // Four rows of one, two of the other.
    expect(send(pushed(0))).toEqual([
      blend(
        2,
        "next",
        { global: 1, "gradient:0:1": -0.1 / 6, "gradient:1:1": -0.1 / 6 },
        { global: 1 },
      ),
    ]);
    const last = send(blended(2));
    expect(acts(last)).toEqual([rotate("global", "next"), evaluate(2)]);
    const [report] = roundReports(commandsOf([last], "report").map((command) => command.report));
    expect(report).toMatchObject({
      round: 2,
      epoch: 1,
      rows: 6,
      devices: [
        { device: 0, updates: 2, rows: 4, weight: 2 / 3, staleness: 1, seconds: 2 },
        { device: 1, updates: 1, rows: 2, weight: 1 / 3, staleness: 1, seconds: 1 },
      ],
    });
    expect(send(evaluated(2))).toEqual([stop("epochs")]);
  });
});

describe("Asynchronous SGD on five rows", () => {
  it("gives the commands that were worked out by hand", () => {
    const policy = asyncSgd({ ...run, batch: 2, roundRows: 100 });
    const { commands, send } = drive(policy, { devices: hosts, rows: 5, parameters: 4 });
    expect(commands()).toEqual([
      pull(0),
      accumulate(0, 0, 2),
      apply(0, -0.05),
      pull(1),
      accumulate(1, 2, 2),
      apply(1, -0.05),
    ]);
    expect(send(done(0), done(1))).toEqual([]);
    expect(send(applied(0))).toEqual([pull(0), accumulate(0, 4, 1), apply(0, -0.05)]);
    expect(acts(send(applied(1), done(0)))).toEqual([]);
    const last = send(applied(0));
    expect(acts(last)).toEqual([evaluate(1)]);
    const [report] = roundReports(commandsOf([last], "report").map((command) => command.report));
    // Each has missed one update of the other's, the first device in one of two.
    expect(report?.devices).toMatchObject([
      { device: 0, updates: 2, share: 2 / 3, rows: 3, staleness: 0.5 },
      { device: 1, updates: 1, share: 1 / 3, rows: 2, staleness: 1 },
    ]);
    expect(send(evaluated(1))).toEqual([stop("epochs")]);
  });
});

describe("SSP", () => {
  it("has a device wait that is more than s steps ahead, and no longer", () => {
    const policy = ssp({ ...run, batch: 2, staleness: 1, roundRows: 100 });
    const { send } = drive(policy, { devices: hosts, rows: 100, parameters: 4 });
    expect(send(done(0), applied(0)).length).toBe(3);
    expect(send(done(0), applied(0))).toEqual([]);
    expect(send(done(1), applied(1))).toEqual([
      pull(0),
      accumulate(0, 6, 2),
      apply(0, -0.05),
      pull(1),
      accumulate(1, 8, 2),
      apply(1, -0.05),
    ]);
  });
});

describe("Hogwild on seven rows", () => {
  it("gives the commands that were worked out by hand", () => {
    const policy = hogwild({ ...run, messageRows: 2, roundRows: 7 });
    const { commands, send } = drive(policy, { devices: hosts, rows: 7, parameters: 4 });
    // Once three rows are left, which is less than a message each, no second one is queued.
    expect(commands()).toEqual([share(0, 0, 2, 0.1, 1), share(1, 2, 2, 0.1, 1)]);
    expect(send(done(1))).toEqual([share(1, 4, 2, 0.1, 1)]);
    expect(send(done(1))).toEqual([share(1, 6, 1, 0.1, 1)]);
    expect(acts(send(done(0)))).toEqual([]);
    const last = send(done(1));
    expect(acts(last)).toEqual([evaluate(1)]);
    const [report] = roundReports(commandsOf([last], "report").map((command) => command.report));
    expect(report?.devices).toMatchObject([
      { device: 0, updates: 2, staleness: null },
      { device: 1, updates: 5, staleness: null },
    ]);
  });

  it("has two messages outstanding while there are plenty", () => {
    const policy = hogwild({ ...run, messageRows: 2 });
    const { commands } = drive(policy, { devices: hosts, rows: 40, parameters: 4 });
    expect(commandsOf([commands()], "step").map(({ device }) => device)).toEqual([0, 1, 0, 1]);
  });

  it("refuses an accelerator", () => {
    const invalid = expect.objectContaining({ code: "INVALID_SETUP" }) as Error;
    const policy = hogwild(run);
    expect(() => policy.start({ devices: mixed, rows: 7, parameters: 4 })).toThrow(invalid);
  });
});

describe("Hogbatch on fifteen rows", () => {
  const options = { ...run, acceleratorBatch: 6, messageRows: 5, roundRows: 100 };

  it("gives the commands that were worked out by hand, adding", () => {
    const { commands, send } = drive(hogbatch(options), {
      devices: mixed,
      rows: 15,
      parameters: 4,
    });
    // Two batches of two threads' rows are what five rows hold.
    expect(commands()).toEqual([
      share(0, 0, 4, 0.1, 1),
      pull(1),
      accumulate(1, 4, 6),
      apply(1, -0.1 / 6),
    ]);
    expect(send(done(0))).toEqual([share(0, 10, 4, 0.1, 1)]);
    expect(send(done(1))).toEqual([]);
    // The rate is not less for the one row that is left.
    expect(send(applied(1))).toEqual([pull(1), accumulate(1, 14, 1), apply(1, -0.1)]);
    expect(acts(send(done(1), applied(1)))).toEqual([]);
    expect(acts(send(done(0)))).toEqual([evaluate(1)]);
  });

  it("gives the commands that were worked out by hand, overwriting", () => {
    const { commands, send } = drive(hogbatch({ ...options, accelerate: "overwrite" }), {
      devices: mixed,
      rows: 15,
      parameters: 4,
    });
    expect(commands()).toEqual([
      share(0, 0, 4, 0.1, 1),
      pull(1),
      step(1, 4, 6, 0.1),
      { type: "push", device: 1, norm: false },
    ]);
    expect(send(done(1))).toEqual([]);
    expect(send(pushed(1))).toEqual([blend(1, "global", { "replica:1": 1 })]);
    expect(acts(send(blended(1)))[0]).toEqual(pull(1));
  });

  it("needs a copy of the model for accelerators alone", () => {
    expect(hogbatch(options).models(mixed)).toEqual(["global", "replica:1", "gradient:1:0"]);
    const overwriting = hogbatch({ ...options, accelerate: "overwrite" });
    expect(overwriting.models(mixed)).toEqual(["global", "replica:1"]);
  });
});

describe("Adaptive Hogbatch on 64 rows", () => {
  it("moves sizes by u, within the bounds, whenever a device asks", () => {
    const devices: readonly DeviceInfo[] = [{ id: 0, maxBatchRows: 64 }, ...mixed.slice(1)];
    const policy = adaptiveHogbatch({
      ...run,
      hostMax: 4,
      acceleratorMin: 2,
      messageRows: 1,
      roundRows: 64,
    });
    const { commands, send } = drive(policy, { devices, rows: 64, parameters: 4 });
    // The host starts small, the accelerator large: a sixteenth of the rows.
    expect(commands()).toEqual([
      share(0, 0, 1, 0.1, 1),
      pull(1),
      accumulate(1, 1, 4),
      apply(1, -0.025),
    ]);
    // u = 1, 0; 2, 0; 3, 0: the host is ahead, and its batch doubles up to its bound.
    expect(send(done(0))).toEqual([share(0, 5, 2, 0.1, 2)]);
    expect(send(done(0))).toEqual([share(0, 7, 4, 0.1, 4)]);
    expect(send(done(0))).toEqual([share(0, 11, 4, 0.1, 4)]);
    // u = 3, 1: the accelerator is behind, and its batch is halved.
    expect(send(done(1), applied(1))).toEqual([pull(1), accumulate(1, 15, 2), apply(1, -0.05)]);
    expect(send(done(1), applied(1))).toEqual([pull(1), accumulate(1, 17, 2), apply(1, -0.05)]);
  });

  it("begins u again with each epoch, but keeps the sizes", () => {
    const policy = adaptiveHogbatch({ ...run, epochs: 2, hostMax: 2, messageRows: 1 });
    const devices: readonly DeviceInfo[] = [{ id: 0, maxBatchRows: 64 }, ...mixed.slice(1)];
    const { commands, send, state } = drive(policy, { devices, rows: 4, parameters: 4 });
    // A sixteenth of so few rows is one for the accelerator. The host is ahead after one.
    expect(commands()).toEqual([
      share(0, 0, 1, 0.1, 1),
      pull(1),
      accumulate(1, 1, 1),
      apply(1, -0.1),
    ]);
    expect(send(done(0))).toEqual([share(0, 2, 2, 0.1, 2)]);
    send(done(0));
    expect(state().devices.map(({ credit }) => credit)).toEqual([2, 0]);
    expect(commandsOf([send(done(1), applied(1))], "step")).toEqual([
      { ...share(0, 0, 2, 0.1, 2), rows: [{ epoch: 1, start: 0, count: 2 }] },
    ]);
    expect(state().devices.map(({ credit }) => credit)).toEqual([0, 0]);
  });

  it("counts a host's updates by β", () => {
    const devices: readonly DeviceInfo[] = [
      { id: 0, maxBatchRows: 64, threads: 4 },
      ...mixed.slice(1),
    ];
    const policy = adaptiveHogbatch({ ...run, beta: 0.25, messageRows: 4, acceleratorMin: 1 });
    const { send, state } = drive(policy, { devices, rows: 640, parameters: 4 });
    send(done(0), done(1), applied(1));
    // Four threads' updates count for one.
    expect(state().devices.map(({ credit }) => credit)).toEqual([1, 1]);
  });

  it("has whoever joins begin with the least u, not far behind everybody", () => {
    const policy = adaptiveHogbatch({ ...run, hostMax: 8, messageRows: 1, acceleratorMin: 2 });
    const { send, state } = drive(policy, {
      devices: [{ id: 0, maxBatchRows: 64 }, ...mixed.slice(1)],
      rows: 640,
      parameters: 4,
    });
    // u = 3, 1, and the host's batch has doubled three times.
    send(done(0), done(0), done(0), done(1), applied(1));
    send({ type: "joined", device: { id: 2, maxBatchRows: 64, role: "accelerator" } });
    expect(state().devices.map(({ credit }) => credit)).toEqual([3, 1, 1]);
    expect(state().devices.map(({ batchRows }) => batchRows)).toEqual([8, 20, 40]);
    // It is lost again: what it was given goes to the next who asks.
    send({ type: "lost", device: 2, reason: "gone" });
    expect(commandsOf([send(done(1), applied(1))], "accumulate")).toMatchObject([
      { device: 1, rows: [{ epoch: 0, start: 75, count: 10 }] },
    ]);
  });
});
