import type { CheckpointModels, Policy } from "@heterosgd/scheduler";
import { allocateShared, createDatasetBuilder } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import type { CheckpointWriterApi, WriteCall, WriteReply } from "../checkpoint/writer-api.js";
import { createCheckpointer, requireCheckpointOptions } from "./checkpointer.js";

const models: CheckpointModels = ["global", "replica:0"];
const rows = createDatasetBuilder({ features: 2, labels: 2 });
rows.addRow({ features: [[0, 1]], labels: [0] });
const train = rows.finish(allocateShared);

/** A checkpointer whose writes end when they are told to. */
function started(position?: () => Promise<{ bytes: number; lines: number }>) {
  const said: string[] = [];
  const writes: { call: WriteCall; end: (error?: Error) => void }[] = [];
  const writer: CheckpointWriterApi = {
    write: (call) =>
      new Promise<WriteReply>((resolve, reject) => {
        const { step } = call.record;
        const reply = { path: "", step, bytes: 1, seconds: 0, notRemoved: null };
        writes.push({ call, end: (error) => (error ? reject(error) : resolve(reply)) });
      }),
    close: async () => void said.push("closed"),
  };
  let step = 0;
  const checkpointer = createCheckpointer({
    checkpoints: { folder: "x", ...(position === undefined ? {} : { position }) },
    run: {
      train,
      evaluation: null,
      shape: { features: 2, hidden: [2], labels: 2, activation: "relu", loss: "softmax" },
      rule: { name: "adagrad", epsilon: 1 },
      seed: 1,
      policy: { name: "some" } as Policy,
    },
    start: () => writer,
    facts: () => ({
      step: ++step,
      devices: [],
      rows: 0,
      merges: 0,
      seconds: 0,
      metrics: null,
      patience: { best: null, without: 0 },
    }),
    save: () => said.push("save"),
    onWritten: (written) => said.push(`written ${written.step}`),
    onFailed: (error) => said.push((error as Error).message),
  });
  /** What the coordinator and the executor do about a checkpoint; whether it is taken. */
  const checkpoint = (state: unknown): boolean => {
    checkpointer.onCommand({ type: "checkpoint", models }, state);
    const into = checkpointer.begin(models);
    if (into === null) return false;
    into[0]!.parameters.fill(step);
    checkpointer.taken([5, 7], null);
    return true;
  };
  return { said, writes, checkpointer, checkpoint };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a checkpoint that comes due while another is written is asked for again after that", async () => {
  const { said, writes, checkpointer, checkpoint } = started();
  expect(checkpoint("first")).toBe(true);
  await settled();
  expect(checkpoint("second")).toBe(false);
  checkpointer.request();
  expect(said).toEqual([]);
  writes[0]!.end();
  await settled();
  expect(said).toEqual(["written 1", "save"]);
  expect(checkpoint("third")).toBe(true);
  await settled();
  const { record } = writes[1]!.call;
  expect(record).toMatchObject({ policy: "third", algorithm: "some", trainRows: 1, step: 2 });
  expect(record.models).toEqual([
    { name: "global", updates: 5 },
    { name: "replica:0", updates: 7 },
  ]);
  expect(writes[1]!.call.models.map(({ state }) => state.length)).toEqual([1, 1]);
});

test("memory of copies is used again, and given back for models that are no more", async () => {
  const { writes, checkpointer, checkpoint } = started();
  checkpoint("first");
  await settled();
  writes[0]!.end();
  await settled();
  checkpoint("second");
  await settled();
  const [before, now] = writes.map(({ call }) => call.models);
  expect(now![0]!.parameters).toBe(before![0]!.parameters);
  writes[1]!.end();
  await settled();
  checkpointer.onCommand({ type: "checkpoint", models: ["global"] }, "third");
  expect(checkpointer.begin(["global"])).toHaveLength(1);
});

test("where a write fails the run is told, and the next one is tried", async () => {
  const { said, writes, checkpointer, checkpoint } = started();
  checkpoint("first");
  await settled();
  writes[0]!.end(new Error("the disk is full"));
  await settled();
  expect(said).toEqual(["the disk is full"]);
  checkpointer.request();
  expect(said).toEqual(["the disk is full", "save"]);
  expect(checkpoint("second")).toBe(true);
});

test("events that could not be written belong to no checkpoint", async () => {
  const { writes, checkpoint } = started(() => Promise.reject(new Error("no")));
  checkpoint("first");
  await settled();
  expect(writes[0]!.call.record.events).toBeNull();
});

test("the end waits for what is being written, then saves the models themselves", async () => {
  const { said, writes, checkpointer, checkpoint } = started(() =>
    Promise.resolve({ bytes: 3, lines: 1 }),
  );
  checkpoint("first");
  await settled();
  checkpointer.onCommand({ type: "stop", reason: "epochs", models: ["global"] }, "last");
  const memory = { parameters: new Float32Array(8), state: [], updates: Int32Array.of(9) };
  const finished = checkpointer.finish(() => memory, null);
  await settled();
  expect(writes).toHaveLength(1);
  writes[0]!.end();
  await settled();
  const { record, models: saved } = writes[1]!.call;
  expect(record).toMatchObject({ policy: "last", events: { bytes: 3, lines: 1 } });
  expect(record.models).toEqual([{ name: "global", updates: 9 }]);
  expect(saved[0]!.parameters).toBe(memory.parameters);
  writes[1]!.end();
  await finished;
  await checkpointer.close();
  expect(said).toEqual(["written 1", "written 2", "closed"]);
});

test("options out of range are refused", () => {
  const bad = expect.objectContaining({ code: "BAD_OPTION" });
  expect(() => requireCheckpointOptions({ folder: "x", keep: 1.5 })).toThrow(bad);
  expect(() => requireCheckpointOptions({ folder: "x", everySeconds: -1 })).toThrow(bad);
  requireCheckpointOptions({ folder: "x", keep: 1, everySeconds: 0.5 });
});
