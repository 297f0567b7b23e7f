/** Recordings are replayed on devices that have their arrays to themselves, as on any others. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { listCheckpoints } from "../src/checkpoint/list-checkpoints.js";
import { openCheckpoint } from "../src/checkpoint/open-checkpoint.js";
import type { CpuKernelsSetup } from "../src/device/device-kernels.js";
import { replay, type RunEvent, type TrainOptions } from "../src/index.js";
import { keepAll, openAll } from "./all-checkpoints.js";
import { builtTrainer } from "./built.js";
import { createOpaqueKernels } from "./opaque-kernels.js";
import { temporaryFolder } from "./random-checkpoint.js";
import { raceFree, small, smallPolicy } from "./small-algorithms.js";
import { devicesOf, ofPolicy, options } from "./small-run.js";

// The replay's devices live in this thread; those of the run don't.
vi.mock("../src/device/device-kernels.js", async (importOriginal) => {
  const original = await importOriginal<typeof import("../src/device/device-kernels.js")>();
  return {
    ...original,
    createDeviceKernels: (setup: CpuKernelsSetup) =>
      createOpaqueKernels(original.createDeviceKernels(setup)),
  };
});

const { parseDevices, train } = await builtTrainer();
const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;

async function run(changes: Partial<TrainOptions>) {
  const events: RunEvent[] = [];
  const all = options({ kernels: "plain", ...changes });
  const result = await train({ ...all, onEvent: (event) => events.push(event) });
  return { result, events, all };
}

describe.each(raceFree)("%s", (name) => {
  test("comes to the same", async () => {
    const { result, events, all } = await run({
      devices: parseDevices(small[name]!.devices),
      policy: smallPolicy(name, { epochs: 2 }),
    });
    const devices = devicesOf(events);
    expect(await replay({ ...all, devices, events: ofPolicy(events) })).toEqual(result.parameters);
  });
});

test("a run that was resumed comes to the same, its devices' own models included", async () => {
  const folder = await temporaryFolder();
  try {
    const setup = {
      devices: parseDevices("cpu,cpu"),
      rule: adam,
      policy: smallPolicy("easgd", { epochs: 3, checkpointEvery: 5, rate: 0.01 }),
    };
    const events: RunEvent[] = [];
    const path = join(folder, "whole");
    await train({
      ...options({ kernels: "plain", ...setup, checkpoints: keepAll(path, events, undefined) }),
      onEvent: (event) => events.push(event),
    });
    const [, resume] = await openAll(path, { listCheckpoints, openCheckpoint });
    const again = await run({ ...setup, resume: resume! });
    expect(again.events[0]).toMatchObject({ type: "resume", exact: true });
    const parts = [...events.slice(0, resume!.record.events!.lines), ...again.events];
    const replayed = await replay({
      ...again.all,
      devices: devicesOf(events),
      events: ofPolicy(parts),
    });
    expect(new Float32Array(replayed)).toEqual(new Float32Array(again.result.parameters));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
