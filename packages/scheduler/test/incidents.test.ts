/** Losses, joins and finishes where each algorithm has to decide something of its own. */
import { describe, expect, it } from "vitest";
import {
  absSgd,
  asyncSgd,
  crossbow,
  easgd,
  hogbatch,
  hogwild,
  ssp,
  syncSgd,
} from "../src/index.js";
import type { Command, DeviceInfo, Policy } from "../src/index.js";
import {
  acts,
  applied,
  blended,
  commandsOf,
  done,
  drive,
  evaluated,
  finish,
  joined,
  lost,
  pushed,
  told,
} from "./support.js";

const { accumulate, apply, blend, evaluate, pull, push, rotate, share, stop } = told;

const run = {
  epochs: 1,
  schedule: { kind: "constant", rate: 0.1 },
  evaluateEvery: "never",
} as const;
const setup = (rows: number, count = 2) => ({
  devices: Array.from({ length: count }, (_, id) => ({ id, maxBatchRows: 64 })),
  rows,
  parameters: 4,
});
const untilPushed = (device: number) => [done(device), pushed(device)];
/** Device, first row and number of rows of each batch. */
const batches = (commands: readonly Command[]) =>
  [...commandsOf([commands], "accumulate"), ...commandsOf([commands], "step")].flatMap(
    ({ device, rows }) => rows.map(({ start, count }) => [device, start, count]),
  );

describe("in a round, here of synchronous SGD,", () => {
  const policy = syncSgd({ ...run, batch: 2 });

  it("a device lost before the merge leaves its rows to the next round", () => {
    const { send } = drive(policy, setup(8));
    send(...untilPushed(0));
    // Half the round moves the model by half.
    const half = { global: 1, "gradient:0:0": -0.025 } as const;
    expect(send(lost(1))).toEqual([blend(1, "next", half, { global: 1 })]);
    expect(batches(send(blended(1)))).toEqual([[0, 2, 2]]);
  });

  it("a device lost during the merge counts, and is out from then on", () => {
    const { send, state } = drive(policy, setup(8));
    send(...untilPushed(0), ...untilPushed(1));
    expect(send(lost(1))).toEqual([]);
    expect(batches(send(blended(1)))).toEqual([[0, 4, 2]]);
    expect(state().steps).toBe(2);
  });

  it("the last device's loss stops the run, with what is not merged in the queue", () => {
    const { send, state } = drive(policy, setup(8));
    send(...untilPushed(0), ...untilPushed(1), lost(1));
    expect(send(lost(0))).toEqual([stop("devices")]);
    expect(state().queue.returned).toEqual([{ epoch: 0, start: 0, count: 4 }]);
  });

  it("a device that joins waits for the next round, or takes over if it is the only one", () => {
    const { send } = drive(policy, setup(12));
    expect(send(joined(2))).toEqual([]);
    send(...untilPushed(0), ...untilPushed(1));
    expect(batches(send(blended(1)))).toEqual([
      [0, 4, 2],
      [1, 6, 2],
      [2, 8, 2],
    ]);
    expect(send(lost(0), lost(1), joined(3))).toEqual([]);
    expect(batches(send(lost(2)))).toEqual([[3, 4, 2]]);
  });

  it("a finish lets the round be the last", () => {
    const { send } = drive(policy, setup(12));
    expect(send(finish)).toEqual([]);
    send(...untilPushed(0), ...untilPushed(1));
    expect(acts(send(blended(1)))).toEqual([rotate("global", "next"), evaluate(1)]);
    expect(send(evaluated(1))).toEqual([stop("signal")]);
  });
});

describe("replicas that live on", () => {
  it("are joined by a new one at the centre, in EASGD", () => {
    const { send } = drive(easgd({ ...run, batch: 2, mergeEvery: 1 }), setup(20));
    send(joined(2), ...untilPushed(0), ...untilPushed(1), blended(1), blended(2));
    const commands = send(blended(3));
    expect(commandsOf([commands], "pull")).toEqual([pull(2)]);
    expect(batches(commands).length).toBe(3);
    send(...untilPushed(0), ...untilPushed(1), done(2));
    // β/3 each.
    expect(send(pushed(2))).toEqual([
      blend(4, "next", { global: 0.1, "replica:0": 0.3, "replica:1": 0.3, "replica:2": 0.3 }),
    ]);
  });

  it("are not brought into a model that a finish follows, in CROSSBOW", () => {
    const policy = crossbow({ ...run, batch: 2, evaluateEvery: "merge" });
    const { send } = drive(policy, setup(20));
    send(...untilPushed(0), pushed(0), ...untilPushed(1), pushed(1));
    send(blended(1), blended(2), blended(3));
    // It was on account of this very model.
    expect(send({ type: "finish", reason: "target" })).toEqual([]);
    expect(send(evaluated(1))).toEqual([stop("target", "previous", "replica:0", "replica:1")]);
  });
});

describe("ABS-SGD", () => {
  const policy = absSgd({ ...run, microBatch: 2 });

  it("takes back what a lost device had frozen, if the reduction has not begun", () => {
    const { send, state } = drive(policy, setup(20));
    send(done(0), pushed(0));
    // The other has the rows of its frozen sum, and is in the middle of its own.
    expect(send(lost(0))).toEqual([]);
    expect(state().queue.returned).toEqual([
      { epoch: 0, start: 0, count: 2 },
      { epoch: 0, start: 4, count: 2 },
    ]);
  });

  it("keeps what it had frozen if the reduction has begun, and takes back the rest", () => {
    const { send, state } = drive(policy, setup(20));
    send(done(0), pushed(0), done(1), pushed(1));
    expect(send(lost(0))).toEqual([]);
    expect(state().queue.returned).toEqual([{ epoch: 0, start: 4, count: 2 }]);
    send(blended(1));
    expect(state()).toMatchObject({ trained: 4, steps: 2 });
    expect(state().devices.map(({ id }) => id)).toEqual([1]);
  });

  it("takes everything back of a device that is lost before it comes to the border", () => {
    const { send, state } = drive(policy, setup(20));
    send(done(0), pushed(0));
    // It was told to freeze behind what it is computing, and to go on.
    const [reduction] = commandsOf([send(lost(1))], "blend");
    expect(reduction?.terms.map(({ model }) => model)).toEqual(["global", "gradient:0:0"]);
    expect(state().queue.returned).toEqual([
      { epoch: 0, start: 2, count: 2 },
      { epoch: 0, start: 6, count: 2 },
    ]);
  });

  it("lets a device that joins compute at once, but add nothing to the round under way", () => {
    const { send } = drive(policy, setup(40));
    send(done(0), pushed(0), done(1), pushed(1));
    // A reduction is under way: what it would pull is about to be rotated.
    expect(send(joined(2))).toEqual([]);
    expect(acts(send(blended(1)))).toEqual([
      rotate("global", "next"),
      push(0, "gradient:0:1"),
      pull(0),
      accumulate(0, 8, 2),
      push(1, "gradient:1:1"),
      pull(1),
      accumulate(1, 10, 2),
      pull(2),
      accumulate(2, 12, 2),
    ]);
    expect(send(done(2))).toEqual([accumulate(2, 14, 2, 0, false)]);
    send(done(0), pushed(0), done(1));
    const [second] = commandsOf([send(pushed(1))], "blend");
    expect(second?.terms.map(({ model }) => model)).toEqual([
      "global",
      "gradient:0:1",
      "gradient:1:1",
    ]);
    expect(acts(send(blended(2))).slice(-3)).toEqual([
      push(2, "gradient:2:0"),
      pull(2),
      accumulate(2, 20, 2, 1),
    ]);
  });

  it("has nobody pull while a reduction is under way", () => {
    const { send } = drive(policy, setup(10));
    send(done(0), pushed(0), done(1), pushed(1), done(1), joined(2), joined(3));
    send(blended(1), done(0), pushed(0));
    // Of four rows the first takes two, which was idle, and one that has joined the others.
    expect(send(lost(1))).toEqual([
      accumulate(0, 6, 2, 0),
      pull(2),
      accumulate(2, 8, 2),
      blend(2, "next", { global: 1, "gradient:0:1": -0.05 }, { global: 1 }),
    ]);
    expect(send(lost(0))).toEqual([]);
    expect(send(lost(2))).toEqual([]);
    // Alone, it begins the round anew.
    expect(acts(send(blended(2)))).toEqual([
      rotate("global", "next"),
      pull(3),
      accumulate(3, 6, 2),
      push(3, "gradient:3:0"),
      pull(3),
      accumulate(3, 8, 2, 1),
    ]);
  });

  it("drains both sums at a finish, in two rounds", () => {
    const { send, state } = drive(policy, setup(40));
    send(done(0), pushed(0), done(1), pushed(1));
    expect(send(finish)).toEqual([]);
    expect(acts(send(blended(1)))).toEqual([
      rotate("global", "next"),
      push(0, "gradient:0:1"),
      pull(0),
      push(1, "gradient:1:1"),
      pull(1),
    ]);
    send(done(0), pushed(0), done(1));
    expect(commandsOf([send(pushed(1))], "blend").length).toBe(1);
    expect(acts(send(blended(2)))).toEqual([rotate("global", "next"), evaluate(2)]);
    expect(state().trained).toBe(8);
    expect(send(evaluated(2))).toEqual([stop("signal")]);
  });

  it("ends with the model that was evaluated if the finish comes then", () => {
    const evaluating = absSgd({ ...run, microBatch: 2, evaluateEvery: "merge" });
    const { send, state } = drive(evaluating, setup(40));
    send(done(0), pushed(0), done(1), pushed(1));
    // All pause, with what they have in hand completed and kept.
    expect(acts(send(blended(1)))).toEqual([rotate("global", "next")]);
    expect(send(done(0))).toEqual([]);
    expect(send(done(1))).toEqual([evaluate(1)]);
    send(finish);
    expect(send(evaluated(1))).toEqual([stop("signal")]);
    expect(state().queue.returned).toEqual([{ epoch: 0, start: 4, count: 4 }]);
  });

  it("goes on with what it has in hand after an evaluation", () => {
    const evaluating = absSgd({ ...run, microBatch: 2, evaluateEvery: "merge" });
    const { send } = drive(evaluating, setup(40));
    send(done(0), pushed(0), done(1), pushed(1), blended(1), done(0), done(1));
    expect(send(evaluated(1))).toEqual([
      push(0, "gradient:0:1"),
      pull(0),
      accumulate(0, 8, 2),
      push(1, "gradient:1:1"),
      pull(1),
      accumulate(1, 10, 2),
    ]);
  });
});

describe("on a shared model", () => {
  it("what a lost device had not added goes back to the front", () => {
    const { send } = drive(asyncSgd({ ...run, batch: 2 }), setup(20));
    send(done(0));
    expect(send(lost(0))).toEqual([]);
    expect(acts(send(done(1), applied(1)))).toEqual([
      pull(1),
      accumulate(1, 0, 2),
      apply(1, -0.05),
    ]);
  });

  it("a device that joins gets work at once", () => {
    const { send } = drive(asyncSgd({ ...run, batch: 2 }), setup(20));
    expect(send(joined(2))).toEqual([pull(2), accumulate(2, 4, 2), apply(2, -0.05)]);
  });

  it("nobody waits for a lost device any longer, in SSP", () => {
    const { send } = drive(ssp({ ...run, batch: 2, staleness: 0, roundRows: 99 }), setup(40, 3));
    send(done(0), applied(0), done(1));
    expect(send(applied(1))).toEqual([]);
    const commands = send(lost(2));
    expect(batches(commands)).toEqual([
      [0, 4, 2],
      [1, 6, 2],
    ]);
  });

  it("a device that joins SSP starts from the slowest one's steps", () => {
    const { send, state } = drive(ssp({ ...run, batch: 2, staleness: 5 }), setup(40));
    send(done(0), applied(0), done(0), applied(0), done(1), applied(1), joined(2));
    expect(state().devices.map(({ clock }) => clock)).toEqual([2, 1, 1]);
  });

  it("both messages of a lost device go back, in Hogwild", () => {
    const { send, state } = drive(hogwild({ ...run, messageRows: 2 }), setup(40));
    send(lost(0));
    expect(state().queue.returned).toEqual([
      { epoch: 0, start: 0, count: 2 },
      { epoch: 0, start: 4, count: 2 },
    ]);
  });

  const mixed: readonly DeviceInfo[] = [
    { id: 0, maxBatchRows: 64 },
    { id: 1, maxBatchRows: 64, role: "accelerator" },
  ];
  const overwriting = hogbatch({
    ...run,
    acceleratorBatch: 4,
    messageRows: 2,
    accelerate: "overwrite",
    roundRows: 99,
  });

  it("an accelerator's model counts once it is put in place, even if that one is lost", () => {
    const { send, state } = drive(overwriting, { devices: mixed, rows: 40, parameters: 4 });
    send(done(1), pushed(1), lost(1));
    expect(state()).toMatchObject({ steps: 0, queue: { returned: [] } });
    expect(send(blended(1))).toEqual([]);
    expect(state().steps).toBe(1);
  });

  it("that model's rows go back if nobody is left to put it in place", () => {
    const { send, state } = drive(overwriting, { devices: mixed, rows: 40, parameters: 4 });
    send(done(1), pushed(1), lost(1));
    expect(acts(send(lost(0)))).toEqual([stop("devices")]);
    expect(state().queue.returned).toEqual([{ epoch: 0, start: 0, count: 6 }]);
  });

  it("all wait at the end of an epoch, in Hogbatch", () => {
    const policy = hogbatch({ ...run, epochs: 2, acceleratorBatch: 4, messageRows: 2 });
    const { send } = drive(policy, { devices: mixed, rows: 6, parameters: 4 });
    expect(acts(send(done(0)))).toEqual([]);
    const next = send(done(1), applied(1));
    expect(next).toContainEqual({ type: "report", report: { type: "epoch", epoch: 0 } });
    expect(commandsOf([next], "step")).toEqual([
      { ...share(0, 0, 2, 0.1, 1), rows: [{ epoch: 1, start: 0, count: 2 }] },
    ]);
  });

  it("a finish lets what is under way land, then evaluates", () => {
    const { send } = drive(asyncSgd({ ...run, batch: 2 }), setup(40));
    expect(send(finish, done(0), applied(0), done(1))).toEqual([]);
    expect(acts(send(applied(1)))).toEqual([evaluate(1)]);
    expect(send(evaluated(1))).toEqual([stop("signal")]);
  });
});

describe("every algorithm", () => {
  const policies: readonly Policy[] = [
    syncSgd({ ...run, batch: 2 }),
    absSgd({ ...run, microBatch: 2 }),
    asyncSgd({ ...run, batch: 2 }),
  ];

  it.each(policies)("refuses answers to what it did not ask for ($name)", (policy) => {
    const unexpected = expect.objectContaining({ code: "UNEXPECTED_EVENT" }) as Error;
    const { send } = drive(policy, setup(10));
    expect(() => send(applied(0))).toThrow(unexpected);
    expect(() => send(blended(1))).toThrow(unexpected);
    expect(() => send(evaluated(0))).toThrow(unexpected);
    // Those of a lost device don't matter any more.
    expect(acts(send(lost(0), done(0), pushed(0)))).toEqual([]);
    expect(() => send(joined(1))).toThrow(
      expect.objectContaining({ code: "INVALID_SETUP" }) as Error,
    );
  });
});
