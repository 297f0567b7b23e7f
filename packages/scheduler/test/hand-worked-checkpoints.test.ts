/** Where each kind of algorithm takes a checkpoint, of what, and how it goes on. */
import { describe, expect, it } from "vitest";
import { absSgd, adaptiveSgd, asyncSgd, easgd, syncSgd } from "../src/index.js";
import type { PolicyEvent } from "../src/index.js";
import {
  acts,
  applied,
  blended,
  byUpdates,
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

const { accumulate, apply, checkpoint, evaluate, pull, push, rotate, stop } = told;

const run = {
  epochs: 1,
  schedule: { kind: "constant", rate: 0.1 },
  evaluateEvery: "never",
} as const;
const setup = (rows: number) => ({
  devices: [0, 1].map((id) => ({ id, maxBatchRows: 64 })),
  rows,
  parameters: 4,
});
const save: PolicyEvent = { type: "save" };
const checkpointed: PolicyEvent = { type: "checkpointed" };
const allIn = [0, 1].flatMap((device) => [done(device), pushed(device)]);

describe("rounds, here of synchronous SGD,", () => {
  const policy = syncSgd({ ...run, batch: 2 });

  it("are saved after the merge, and the next one begins once the copy is taken", () => {
    const { send } = drive(policy, setup(8));
    expect(send(save, save)).toEqual([]);
    send(...allIn);
    expect(acts(send(blended(1)))).toEqual([rotate("global", "next"), checkpoint()]);
    // It is being taken already.
    expect(send(save)).toEqual([]);
    expect(send(checkpointed).slice(0, 2)).toEqual([pull(0), pull(1)]);
    send(...allIn);
    expect(commandsOf([send(blended(2))], "checkpoint")).toEqual([]);
  });

  it("are evaluated first, and saved with what that says", () => {
    const both = { evaluateEvery: "merge", checkpointEvery: "merge" } as const;
    const { send } = drive(syncSgd({ ...run, ...both, batch: 2 }), setup(8));
    send(...allIn);
    expect(acts(send(blended(1)))).toEqual([rotate("global", "next"), evaluate(1)]);
    expect(send(evaluated(1))).toEqual([checkpoint()]);
  });

  it("lose and gain devices while the copy is taken", () => {
    const { send } = drive(policy, setup(20));
    send(save, ...allIn, blended(1));
    expect(send(lost(1), joined(2))).toEqual([]);
    expect(send(checkpointed).slice(0, 2)).toEqual([pull(0), pull(2)]);
  });

  it("are not saved once more at the end, which is a checkpoint itself", () => {
    const { send, state } = drive(policy, setup(8));
    send(save, finish, ...allIn);
    expect(acts(send(blended(1)))).toEqual([rotate("global", "next"), evaluate(1)]);
    expect(send(evaluated(1))).toEqual([stop("signal")]);
    const [, commands] = policy.resume(state(), null);
    expect(commands.slice(2)).toContainEqual(accumulate(0, 4, 2));
  });

  it("refuse an answer to a checkpoint that was not asked for", () => {
    const { send } = drive(policy, setup(8));
    expect(() => send(checkpointed)).toThrow(
      expect.objectContaining({ code: "UNEXPECTED_EVENT" }) as Error,
    );
  });
});

it("EASGD's replicas are saved, and start at the centre on other devices", () => {
  const policy = easgd({ ...run, batch: 2, mergeEvery: 1, checkpointEvery: 1 });
  const { send, state } = drive(policy, setup(20));
  send(...allIn, blended(1), blended(2));
  expect(acts(send(blended(3)))).toEqual([
    rotate("global", "next"),
    checkpoint("replica:0", "replica:1"),
  ]);
  expect(commandsOf([policy.resume(state(), null)[1]], "pull")).toEqual([]);
  const [, commands] = policy.resume(state(), [{ id: 0, maxBatchRows: 64 }]);
  expect(commandsOf([commands], "pull")).toEqual([pull(0)]);
});

it("ABS-SGD pauses, has the sums pushed that are growing, and freezes them later", () => {
  const policy = absSgd({ ...run, microBatch: 2, checkpointEvery: 1 });
  const { send, state } = drive(policy, setup(40));
  send(done(0), done(1), pushed(0), pushed(1));
  expect(acts(send(blended(1)))).toEqual([rotate("global", "next")]);
  expect(send(done(0))).toEqual([]);
  expect(send(done(1))).toEqual([push(0, "gradient:0:1"), push(1, "gradient:1:1")]);
  expect(send(pushed(0))).toEqual([]);
  expect(send(pushed(1))).toEqual([checkpoint("gradient:0:1", "gradient:1:1")]);
  expect(send(checkpointed).slice(0, 2)).toEqual([push(0, "gradient:0:1"), pull(0)]);
  const other = { id: 0, maxBatchRows: 64 };
  send(done(0), done(1), pushed(0), pushed(1), blended(2), done(0), done(1), pushed(0));
  send(pushed(1));
  expect(commandsOf([policy.resume(state(), [other])[1]], "accumulate")).toEqual([
    // The rows of both sums, which are in no model.
    accumulate(0, 8, 2),
    accumulate(0, 10, 2, 1),
  ]);
});

it("a shared model is saved when all batches have landed, which ends the round", () => {
  const policy = asyncSgd({ ...run, batch: 2, roundRows: 99 });
  const { send } = drive(policy, setup(20));
  send(save, done(0));
  expect(send(applied(0))).toEqual([]);
  send(done(1));
  const last = send(applied(1));
  expect(acts(last)).toEqual([checkpoint()]);
  expect(commandsOf([last], "report").length).toBe(1);
  expect(send(checkpointed).slice(0, 3)).toEqual([pull(0), accumulate(0, 4, 2), apply(0, -0.05)]);
});

it("Adaptive SGD keeps sizes and times on the same devices, and begins anew on others", () => {
  const policy = adaptiveSgd({
    ...run,
    merge: { ...byUpdates, momentum: 0.5 },
    batch: { max: 4, min: 1 },
    megaBatchRows: 12,
    checkpointEvery: "merge",
  });
  const { send, state } = drive(policy, setup(60));
  send(done(0), done(0));
  send(...allIn.slice(1));
  const { queue } = state();
  expect(queue.position).toBe(12);
  expect(acts(send(blended(1)))).toEqual([
    rotate("previous", "global", "next"),
    checkpoint("previous"),
  ]);
  const [same] = policy.resume(state(), null);
  const [other] = policy.resume(state(), [{ id: 0, maxBatchRows: 3 }]);
  expect(same.devices.map(({ batchRows }) => batchRows)).toEqual(
    state().devices.map(({ batchRows }) => batchRows),
  );
  expect(other.devices.map(({ batchRows }) => batchRows)).toEqual([3]);
});
