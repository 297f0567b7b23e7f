/** Simulations that go on from checkpoints: with the same devices exactly as they would have done. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { RunOptions } from "@heterosgd/scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  listCheckpoints,
  openCheckpoint,
  parseSimulatedDevices,
  replay,
  simulate,
  type Checkpoint,
  type ProfileDevice,
  type RunEvent,
  type SimulateOptions,
} from "../src/index.js";
import { keepAll, openAll } from "./all-checkpoints.js";
import { temporaryFolder } from "./random-checkpoint.js";
import { names, raceFree, smallPolicy } from "./small-algorithms.js";
import { profile } from "./small-profile.js";
import { devicesOf, ofPolicy, options } from "./small-run.js";

const ROWS = 1000;
const EPOCHS = 3;

const parsed = (text: string) => parseSimulatedDevices(text, profile);
const isMixed = (name: string) => name.includes("hogbatch");

/** Three devices, of which one joins and another one leaves in the course of so many seconds. */
const incidents = (name: string, seconds: number): readonly ProfileDevice[] =>
  parsed(
    `gpu,${isMixed(name) ? "acc" : "gpu"}:leaves=${seconds * 0.6}@0.5,gpu:joins=${seconds * 0.2}@0.8`,
  );
const pair = (name: string) => parsed(isMixed(name) ? "gpu,acc@0.5" : "gpu,gpu@0.5");

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Run {
  readonly seconds: number;
  readonly events: readonly RunEvent[];
  readonly parameters: Float32Array;
  readonly checkpoints: readonly Checkpoint[];
}

async function run(
  name: string,
  at: string,
  policyOptions: Partial<RunOptions>,
  changes: Partial<SimulateOptions> & { readonly everySeconds?: number } = {},
): Promise<Run> {
  const { devices: _devices, workerUrl: _url, ...same } = options();
  const { everySeconds, ...others } = changes;
  const events: RunEvent[] = [];
  const path = join(folder, name, at);
  const { parameters, seconds } = await simulate({
    ...same,
    profile,
    devices: pair(name),
    policy: smallPolicy(name, { epochs: EPOCHS, ...policyOptions }),
    onEvent: (event) => events.push(event),
    checkpoints: keepAll(path, events, everySeconds),
    ...others,
  });
  const checkpoints = await openAll(path, { listCheckpoints, openCheckpoint });
  return { events, parameters, seconds, checkpoints };
}

/** The parameters that a replay of all parts of a run ends with; none where races decide them. */
async function replayed(name: string, events: readonly RunEvent[]): Promise<Float32Array | null> {
  if (!raceFree.includes(name)) return null;
  return replay({
    ...options(),
    policy: smallPolicy(name, { epochs: EPOCHS }),
    devices: devicesOf(events),
    events: ofPolicy(events),
  });
}

/** What the policy saw and said, and when, from a line of the record on. */
function storyOf({ events }: Pick<Run, "events">, from: number): readonly RunEvent[] {
  const others = new Set(["start", "resume", "saved", "not-saved", "end"]);
  const story = events.slice(from).filter(({ type }) => !others.has(type));
  return story[0]?.type === "checkpointed" ? story.slice(1) : story;
}

function rowCounts(events: readonly RunEvent[]): Uint8Array {
  const times = new Uint8Array(EPOCHS * ROWS);
  for (const event of events) {
    if (event.type !== "done") continue;
    for (const { epoch, start, count } of event.rows) {
      for (let row = start; row < start + count; row++) times[epoch * ROWS + row]!++;
    }
  }
  return times;
}

describe.each(names)("%s", { timeout: 120_000 }, (name) => {
  test("goes on as it would have done, twice in a row, through losses and joins", async () => {
    const { seconds } = await run(name, "length", {});
    const every = { everySeconds: seconds / 7, devices: incidents(name, seconds) };
    const whole = await run(name, "whole", {}, every);
    const middle = whole.checkpoints.slice(0, -1);
    expect(middle.length).toBeGreaterThan(2);
    expect(new Set(middle.map(({ record }) => record.devices[1]!.isThere)).size).toBe(2);
    for (const [i, checkpoint] of [middle[0]!, middle.at(-1)!].entries()) {
      const again = await run(name, `again-${i}`, {}, { ...every, resume: checkpoint });
      expect(again.events[0]).toMatchObject({ type: "resume", exact: true });
      expect(storyOf(again, 0)).toEqual(storyOf(whole, checkpoint.record.events!.lines));
      expect(again.parameters).toEqual(whole.parameters);
      const before = whole.events.slice(0, checkpoint.record.events!.lines);
      const parameters = await replayed(name, [...before, ...again.events]);
      expect(!raceFree.includes(name) || isDeepStrictEqual(parameters, whole.parameters)).toBe(
        true,
      );
      if (i > 0) continue;
      const [next] = again.checkpoints;
      const third = await run(name, "third", {}, { ...every, resume: next! });
      expect(third.parameters).toEqual(whole.parameters);
      expect(storyOf(third, 0)).toEqual(storyOf(again, next!.record.events!.lines));
    }
  });

  test("goes on from the end of an epoch", async () => {
    const whole = await run(name, "epochs", { checkpointEvery: "epoch" });
    const [first] = whole.checkpoints;
    expect(whole.checkpoints.length).toBeGreaterThan(1);
    const again = await run(name, "epochs-again", { checkpointEvery: "epoch" }, { resume: first! });
    expect(again.parameters).toEqual(whole.parameters);
    expect(storyOf(again, 0)).toEqual(storyOf(whole, first!.record.events!.lines));
  });

  test("trains every row once on more, fewer and other devices", async () => {
    // None is lost: what a lost device had not merged would be trained again.
    const { seconds } = await run(name, "others-length", {});
    const whole = await run(name, "others", {}, { everySeconds: seconds * 0.4 });
    const [middle] = whole.checkpoints as [Checkpoint];
    // Some have no use for accelerators, others for nothing else.
    const others = isMixed(name)
      ? ["gpu,acc@0.3", "gpu,gpu,acc,acc@0.2"]
      : ["gpu@0.3", "gpu,gpu:2,gpu:joins=0.2,gpu@0.7", "gpu:4"];
    const before = whole.events.slice(0, middle.record.events!.lines);
    for (const [i, text] of others.entries()) {
      const again = await run(name, `others-${i}`, {}, { resume: middle, devices: parsed(text) });
      expect(again.events[0]).toMatchObject({ type: "resume", exact: false });
      const times = rowCounts(again.events);
      const already = rowCounts(before);
      expect(times.some((count) => count === 1)).toBe(true);
      expect(times.every((count) => count <= 1)).toBe(true);
      // Only rows whose gradients were in arrays of devices that are no more are trained again.
      const all = times.map((count, row) => count + already[row]!);
      expect(all.every((count) => count >= 1)).toBe(true);
      expect(name === "abs-sgd" || all.every((count) => count === 1)).toBe(true);
    }
  });
});

test("a run that has ended goes on for more epochs", async () => {
  const short = await run("sync", "short", { epochs: 1 });
  const end = short.checkpoints.at(-1)!;
  const longer = await run("sync", "longer", { epochs: EPOCHS }, { resume: end });
  expect(longer.events.at(-1)).toMatchObject({ type: "end", reason: "epochs" });
  const times = rowCounts([...short.events, ...longer.events]);
  expect(times.every((count) => count === 1)).toBe(true);
  const again = await run(
    "sync",
    "over",
    { epochs: EPOCHS },
    { resume: longer.checkpoints.at(-1)! },
  );
  expect(again.parameters).toEqual(longer.parameters);
  expect(rowCounts(again.events).every((count) => count === 0)).toBe(true);
});

test("a checkpoint of another run is refused by what differs", async () => {
  const { checkpoints } = await run("elastic", "mine", { epochs: 1 });
  const resume = checkpoints[0]!;
  const resumed = (name: string, changes: Partial<SimulateOptions>) =>
    run(name, "other", {}, { resume, ...changes });
  const code = "CHECKPOINT_MISMATCH";
  await expect(resumed("local", {})).rejects.toMatchObject({
    code,
    message: expect.stringContaining("the algorithm (elastic there)") as string,
  });
  await expect(resumed("elastic", { seed: 7 })).rejects.toThrow("the seed (1 there)");
  await expect(resumed("elastic", { evaluation: null })).rejects.toThrow("the evaluation data");
  await expect(resumed("elastic", { rule: { name: "adagrad", epsilon: 1 } })).rejects.toThrow(
    "the optimiser (sgd there)",
  );
});
