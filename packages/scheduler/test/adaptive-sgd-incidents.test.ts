import { describe, expect, it } from "vitest";
import { adaptiveSgd } from "../src/index.js";
import type { AdaptiveSgdOptions, Command, PolicyEvent } from "../src/index.js";
import { byUpdates, commandsOf, done, drive, lost, pushed, told } from "./support.js";

/**
 * Mega-batches of four rows in batches of two, one a device: round after round of steps and pushes.
 */
function start(options: Partial<AdaptiveSgdOptions> = {}, devices = 2) {
  const policy = adaptiveSgd({
    epochs: 1,
    schedule: { kind: "constant", rate: 1 },
    merge: byUpdates,
    batch: { max: 2, min: 1 },
    megaBatchRows: 4,
    batchScaling: { rule: "off" },
    evaluateEvery: "merge",
    ...options,
  });
  const infos = Array.from({ length: devices }, (_, id) => ({ id, maxBatchRows: 9 }));
  return drive(policy, { devices: infos, rows: 12, parameters: 1 });
}

const untilPushed = (device: number) => [done(device), pushed(device)];
const blended = (id: number): PolicyEvent => ({ type: "blended", id });
const evaluated = (id: number): PolicyEvent => ({ type: "evaluated", id });
const finish: PolicyEvent = { type: "finish", reason: "signal" };
const { stop } = told;
const joined = (id: number, maxBatchRows = 9): PolicyEvent => ({
  type: "joined",
  device: { id, maxBatchRows },
});

/** device, epoch's first row and number of rows of each step. */
const steps = (commands: readonly Command[]) =>
  commandsOf([commands], "step").flatMap(({ device, rows }) =>
    rows.map((range) => [device, range.start, range.count]),
  );

describe("a device that is lost", () => {
  it("takes its trained and outstanding rows back to the front, where the others find them", () => {
    const run = start({ megaBatchRows: 8 });
    expect(steps(run.commands())).toEqual([
      [0, 0, 2],
      [1, 2, 2],
      [0, 4, 2],
    ]);
    expect(run.send(done(0))).toEqual([]);
    // Rows 0 and 1 are trained on device 0, rows 4 and 5 under way; device 1 may have two batches
    // again.
    expect(run.send(lost(0))).toEqual([
      expect.objectContaining({
        type: "step",
        device: 1,
        rows: [{ epoch: 0, start: 0, count: 2 }],
      }),
    ]);
    expect(steps(run.send(done(1)))).toEqual([[1, 4, 2]]);
  });

  it("wakes those who have pushed already, and they push again", () => {
    const run = start();
    run.send(...untilPushed(0));
    expect(run.send(lost(1))).toEqual([
      expect.objectContaining({
        type: "step",
        device: 0,
        rows: [{ epoch: 0, start: 2, count: 2 }],
      }),
      { type: "push", device: 0, norm: false },
    ]);
    const [blend] = commandsOf([run.send(...untilPushed(0))], "blend");
    expect(blend?.terms).toEqual([{ model: "replica:0", coefficient: 1 }]);
  });

  it("counts for nothing if it had pushed, but others had not", () => {
    const run = start();
    run.send(...untilPushed(0));
    expect(steps(run.send(lost(0)))).toEqual([[1, 0, 2]]);
    expect(run.send(done(1), done(1))).toEqual([]);
    const [blend] = commandsOf([run.send(pushed(1), pushed(1))], "blend");
    expect(blend?.terms).toEqual([{ model: "replica:1", coefficient: 1 }]);
  });

  it("counts if it goes while its replica is being merged, and is out from then on", () => {
    const run = start();
    run.send(...untilPushed(0), ...untilPushed(1));
    expect(run.send(lost(0))).toEqual([]);
    const commands = run.send(blended(1));
    const [report] = commandsOf([commands], "report");
    expect(report?.report).toMatchObject({ rows: 4, devices: [{ weight: 0.5 }, { weight: 0.5 }] });
    expect(steps(run.send(evaluated(1)))).toEqual([
      [1, 4, 2],
      [1, 6, 2],
    ]);
  });

  it("is not missed while the model is evaluated", () => {
    const run = start();
    run.send(...untilPushed(0), ...untilPushed(1), blended(1));
    expect(run.send(lost(0))).toEqual([]);
    expect(run.send(evaluated(1))).toEqual([
      { type: "pull", device: 1 },
      expect.objectContaining({ type: "step", device: 1 }),
      expect.objectContaining({ type: "step", device: 1 }),
      { type: "push", device: 1, norm: false },
    ]);
  });

  it("is not listened to any more", () => {
    const run = start();
    run.send(lost(0));
    const before = run.state();
    expect(run.send(done(0), pushed(0), lost(0), lost(7))).toEqual([]);
    expect(run.state()).toEqual(before);
  });
});

describe("the loss of the last device", () => {
  it("stops the run while it trains, with its rows in the queue again", () => {
    const run = start();
    run.send(...untilPushed(0), lost(0));
    expect(run.send(lost(1))).toEqual([stop("devices")]);
    expect(run.state().queue.returned).toEqual([{ epoch: 0, start: 0, count: 4 }]);
    expect(run.send(evaluated(3))).toEqual([]);
  });

  it("stops the run while it merges, with all rows of the merge in the queue again", () => {
    const run = start();
    run.send(...untilPushed(0), ...untilPushed(1), lost(0));
    expect(run.send(lost(1))).toEqual([stop("devices")]);
    expect(run.state().queue.returned).toEqual([{ epoch: 0, start: 0, count: 4 }]);
  });

  it("stops the run while it evaluates, with the merged rows done", () => {
    const run = start();
    run.send(...untilPushed(0), ...untilPushed(1), blended(1), lost(0));
    expect(run.send(lost(1))).toEqual([stop("devices")]);
    expect(run.state().queue).toMatchObject({ position: 4, returned: [] });
  });

  it("stops nothing while another waits to take part", () => {
    const run = start({}, 1);
    run.send(joined(5));
    expect(run.send(lost(0))).toEqual([
      { type: "pull", device: 5 },
      expect.objectContaining({ type: "step", device: 5 }),
      expect.objectContaining({ type: "step", device: 5 }),
      { type: "push", device: 5, norm: false },
    ]);
    expect(steps(run.commands())).toEqual([
      [5, 0, 2],
      [5, 2, 2],
    ]);
  });
});

describe("a device that joins", () => {
  it("takes part from the next mega-batch on, with the others' mean size and within its memory", () => {
    const run = start({
      epochs: 9,
      batch: { max: 4, min: 1 },
      batchScaling: { rule: "relative", gain: 1 },
      megaBatchRows: 12,
    });
    expect(steps(run.send(done(0), joined(2), joined(3, 2)))).toEqual([]);
    run.send(done(0), pushed(0), done(1), pushed(1), blended(1), evaluated(1));
    const sizes = run.state().devices.map(({ id, batchRows }) => [id, batchRows]);
    expect(sizes).toEqual([
      [0, 4],
      [1, 2],
      [2, 3],
      [3, 2],
    ]);
  });

  it("may leave before its turn comes", () => {
    const run = start();
    run.send(joined(2), lost(2), ...untilPushed(0), ...untilPushed(1), blended(1), evaluated(1));
    expect(run.state().devices.map(({ id }) => id)).toEqual([0, 1]);
  });

  it("must have an id of its own", () => {
    const run = start();
    const invalid = expect.objectContaining({ code: "INVALID_SETUP" }) as Error;
    expect(() => run.send(joined(1))).toThrow(invalid);
  });
});

describe("a finish", () => {
  it("hands out nothing more, merges what is trained, evaluates and stops", () => {
    const run = start({ megaBatchRows: 100 });
    const pushes: readonly Command[] = [0, 1].map((device) => ({
      type: "push",
      device,
      norm: false,
    }));
    expect(run.send(finish)).toEqual(pushes);
    run.send(...[0, 1].flatMap((device) => [done(device), done(device)]));
    const [blend] = commandsOf([run.send(pushed(0), pushed(1))], "blend");
    expect(blend?.terms.map(({ coefficient }) => coefficient)).toEqual([0.5, 0.5]);
    expect(run.send(blended(1)).at(-1)).toEqual({ type: "evaluate", id: 1 });
    expect(run.send(evaluated(1))).toEqual([stop("signal")]);
  });

  it("takes back what was dealt in advance", () => {
    const run = start({ megaBatchRows: 12, dynamicDispatch: false });
    expect(steps(run.commands()).length).toBe(4);
    run.send(finish);
    expect(run.state().queue.returned).toEqual([{ epoch: 0, start: 8, count: 4 }]);
  });

  it("leaves the rows of a device that is lost on the way untrained", () => {
    const run = start();
    run.send(finish, ...untilPushed(0), lost(1));
    expect(run.send(blended(1)).at(-1)).toEqual({ type: "evaluate", id: 1 });
    expect(run.send(evaluated(1))).toEqual([stop("signal")]);
    expect(run.state().queue.returned).toEqual([{ epoch: 0, start: 2, count: 2 }]);
  });

  it("while merging lets the merge be the last", () => {
    const run = start();
    run.send(...untilPushed(0), ...untilPushed(1));
    expect(run.send(finish)).toEqual([]);
    run.send(blended(1));
    expect(run.send(evaluated(1))).toEqual([stop("signal")]);
  });

  it("while evaluating ends the run with the model that was evaluated", () => {
    const run = start();
    run.send(...untilPushed(0), ...untilPushed(1), blended(1));
    expect(run.send(finish)).toEqual([]);
    expect(run.send(evaluated(1))).toEqual([stop("signal")]);
  });

  it("keeps its first reason", () => {
    const run = start();
    run.send(finish, { type: "finish", reason: "time" }, ...untilPushed(0), ...untilPushed(1));
    run.send(blended(1));
    expect(run.send(evaluated(1))).toEqual([stop("signal")]);
  });

  it("on account of the very last evaluation is the reason that the run ends with", () => {
    const run = start({ megaBatchRows: 12 });
    run.send(...[0, 1, 0, 1, 0, 1].map((device) => done(device)), pushed(0), pushed(1));
    expect(run.send(blended(1)).at(-1)).toEqual({ type: "evaluate", id: 1 });
    expect(run.send({ type: "finish", reason: "target" })).toEqual([]);
    expect(run.send(evaluated(1))).toEqual([stop("target")]);
  });
});
