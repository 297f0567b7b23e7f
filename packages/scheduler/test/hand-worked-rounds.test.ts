import { describe, expect, it } from "vitest";
import { crossbow, easgd, elasticSgd, lbBsp, localSgd, syncSgd } from "../src/index.js";
import type { Command } from "../src/index.js";
import { acts, blended, commandsOf, done, drive, evaluated, pushed, told } from "./support.js";

const { accumulate, blend, evaluate, pull, push, rotate, step, stop } = told;

const run = {
  epochs: 1,
  schedule: { kind: "constant", rate: 0.1 },
  evaluateEvery: "never",
} as const;
const devices = [0, 1].map((id) => ({ id, maxBatchRows: 64 }));
const setup = (rows: number) => ({ devices, rows, parameters: 4 });

describe("Synchronous SGD on five rows", () => {
  it("gives the commands that were worked out by hand", () => {
    const { commands, send } = drive(syncSgd({ ...run, batch: 2 }), setup(5));
    expect(commands()).toEqual([
      pull(0),
      pull(1),
      accumulate(0, 0, 2),
      push(0, "gradient:0:0"),
      accumulate(1, 2, 2),
      push(1, "gradient:1:0"),
    ]);
    expect(send(done(1), pushed(1), done(0))).toEqual([]);
    expect(send(pushed(0))).toEqual([
      blend(
        1,
        "next",
        { global: 1, "gradient:0:0": -0.025, "gradient:1:0": -0.025 },
        { global: 1 },
      ),
    ]);
    // The one row that is left counts as much as each of the others.
    const second = send(blended(1));
    expect(second[0]).toEqual(rotate("global", "next"));
    expect(second[1]).toMatchObject({
      report: {
        type: "round",
        round: 1,
        epoch: 0,
        rows: 4,
        devices: [
          { device: 0, updates: 1, share: 0.5, rows: 2, weight: 0.5, staleness: 0, seconds: 1 },
          { device: 1, updates: 1, share: 0.5, rows: 2, weight: 0.5, staleness: 0, seconds: 1 },
        ],
      },
    });
    expect(second.slice(2)).toEqual([
      pull(0),
      pull(1),
      accumulate(0, 4, 1),
      push(0, "gradient:0:0"),
    ]);
    expect(send(done(0), pushed(0))).toEqual([
      blend(2, "next", { global: 1, "gradient:0:0": -0.025 }, { global: 1 }),
    ]);
    const last = send(blended(2));
    expect(acts(last)).toEqual([rotate("global", "next"), evaluate(2)]);
    expect(last).toContainEqual({ type: "report", report: { type: "epoch", epoch: 0 } });
    expect(send(evaluated(2))).toEqual([stop("epochs")]);
  });
});

describe("Warming up", () => {
  it("raises the rate with the rows of whole rounds", () => {
    const policy = syncSgd({ ...run, batch: 2, warmupEpochs: 1 });
    const { send } = drive(policy, setup(8));
    const rates = [1, 2].map((round) => {
      send(done(0), pushed(0), done(1));
      const [merge] = commandsOf([send(pushed(1))], "blend");
      send(blended(round));
      return merge?.terms[1]?.coefficient;
    });
    // Half of the warm-up is over after the first of two rounds of four rows.
    expect(rates).toEqual([-0.0125, -0.025]);
  });
});

describe("LB-BSP", () => {
  it("sizes batches by speeds, smoothed, with their sum fixed", () => {
    const { send } = drive(lbBsp({ ...run, batch: 4, smoothing: 0.5 }), setup(100));
    const sizes = (commands: readonly Command[]) =>
      commandsOf([commands], "accumulate").map(({ rows }) => rows[0]?.count);
    // Four rows a second, and four thirds: three quarters of the rows and one.
    send(done(0, 1), pushed(0), done(1, 3), pushed(1));
    expect(sizes(send(blended(1)))).toEqual([6, 2]);
    // Both half a second a row; with what was before, 3/8 and 5/8: five and three rows.
    send(done(0, 3), pushed(0), done(1, 1), pushed(1));
    expect(sizes(send(blended(2)))).toEqual([5, 3]);
  });

  it("keeps at least a row for the slowest, and no more for the fastest than it may have", () => {
    const { send } = drive(lbBsp({ ...run, batch: 4, batchMax: 5, smoothing: 1 }), setup(100));
    send(done(0, 1), pushed(0), done(1, 1000), pushed(1));
    const [first, second] = commandsOf([send(blended(1))], "accumulate");
    expect(first?.rows).toEqual([{ epoch: 0, start: 8, count: 5 }]);
    expect(second?.rows).toEqual([{ epoch: 0, start: 13, count: 3 }]);
  });
});

describe.each([
  ["Elastic SGD", elasticSgd({ ...run, batch: 2, mergeEvery: 2 })],
  ["Local SGD", localSgd({ ...run, batch: 2, localSteps: 2 })],
])("%s on nine rows", (_, policy) => {
  it("gives the commands that were worked out by hand", () => {
    const { commands, send } = drive(policy, setup(9));
    expect(commands()).toEqual([
      pull(0),
      pull(1),
      step(0, 0, 2, 0.1),
      step(0, 4, 2, 0.1),
      push(0, "replica:0"),
      step(1, 2, 2, 0.1),
      step(1, 6, 2, 0.1),
      push(1, "replica:1"),
    ]);
    expect(send(done(0), done(0), pushed(0), done(1), done(1))).toEqual([]);
    expect(send(pushed(1))).toEqual([blend(1, "next", { "replica:0": 0.5, "replica:1": 0.5 })]);
    // Half a batch moves the replica by half; a replica without a step is not averaged.
    expect(acts(send(blended(1)))).toEqual([
      rotate("global", "next"),
      pull(0),
      pull(1),
      step(0, 8, 1, 0.05),
      push(0, "replica:0"),
    ]);
    expect(send(done(0), pushed(0))).toEqual([blend(2, "next", { "replica:0": 1 })]);
  });
});

describe("EASGD on ten rows", () => {
  it("gives the commands that were worked out by hand", () => {
    const policy = easgd({ ...run, batch: 2, mergeEvery: 1, elasticity: 0.5 });
    const { commands, send } = drive(policy, setup(10));
    expect(commands()).toEqual([
      pull(0),
      pull(1),
      step(0, 0, 2, 0.1),
      push(0, "replica:0"),
      step(1, 2, 2, 0.1),
      push(1, "replica:1"),
    ]);
    send(done(0), pushed(0), done(1));
    // β = 0.5, α = 0.25. The centre first; the replicas from its old value, which is still global.
    expect(send(pushed(1))).toEqual([
      blend(1, "next", { global: 0.5, "replica:0": 0.25, "replica:1": 0.25 }),
    ]);
    expect(send(blended(1))).toEqual([
      blend(2, "replica:0", { "replica:0": 0.75, global: 0.25 }, { "replica:0": 1 }),
      blend(3, "replica:1", { "replica:1": 0.75, global: 0.25 }, { "replica:1": 1 }),
    ]);
    expect(send(blended(3))).toEqual([]);
    // Replicas live on.
    expect(acts(send(blended(2)))).toEqual([
      rotate("global", "next"),
      step(0, 4, 2, 0.1),
      push(0, "replica:0"),
      step(1, 6, 2, 0.1),
      push(1, "replica:1"),
    ]);
  });
});

describe("CROSSBOW on eight rows", () => {
  it("gives the commands that were worked out by hand", () => {
    const policy = crossbow({ ...run, batch: 2, momentum: 0.9 });
    const { commands, send } = drive(policy, setup(8));
    const merge = (id: number, momentum: number) =>
      blend(
        id,
        "next",
        momentum === 0
          ? { global: 0, "replica:0": 0.5, "replica:1": 0.5 }
          : { global: momentum, previous: -momentum, "replica:0": 0.5, "replica:1": 0.5 },
        { global: 1 },
      );
    const correct = (id: number, device: 0 | 1, gradient: boolean) =>
      blend(
        id,
        `replica:${device}`,
        {
          [`replica:${device}`]: 0.5,
          global: 0.5,
          ...(gradient ? { [`gradient:${device}:0`]: -0.05 } : {}),
        },
        { [`replica:${device}`]: 1 },
      );
    // The new replicas have to be readable, too.
    expect(commands()).toEqual([
      pull(0),
      pull(1),
      accumulate(0, 0, 2),
      push(0, "replica:0"),
      push(0, "gradient:0:0"),
      accumulate(1, 2, 2),
      push(1, "replica:1"),
      push(1, "gradient:1:0"),
    ]);
    send(done(0), pushed(0), pushed(0), done(1), pushed(1));
    // 1 − n·α + μ is nothing at first, when there is no move to repeat.
    const [first] = commandsOf([send(pushed(1))], "blend");
    expect(first?.terms).toEqual([
      { model: "replica:0", coefficient: 0.5 },
      { model: "replica:1", coefficient: 0.5 },
    ]);
    expect(send(blended(1))).toEqual([correct(2, 0, true), correct(3, 1, true)]);
    expect(acts(send(blended(2), blended(3)))).toEqual([
      rotate("previous", "global", "next"),
      accumulate(0, 4, 2),
      push(0, "gradient:0:0"),
      accumulate(1, 6, 2),
      push(1, "gradient:1:0"),
    ]);
    send(done(0), pushed(0), done(1));
    expect(send(pushed(1))).toEqual([merge(4, 0.9)]);
    send(blended(4), blended(5));
    // The last gradients are in the replicas: one more round brings them into z.
    expect(acts(send(blended(6)))).toEqual([rotate("previous", "global", "next"), merge(7, 0.9)]);
    expect(send(blended(7))).toEqual([correct(8, 0, false), correct(9, 1, false)]);
    expect(acts(send(blended(8), blended(9)))).toEqual([
      rotate("previous", "global", "next"),
      evaluate(3),
    ]);
    expect(send(evaluated(3))).toEqual([stop("epochs", "previous", "replica:0", "replica:1")]);
  });
});
