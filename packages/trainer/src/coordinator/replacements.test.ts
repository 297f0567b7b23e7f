import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseDevices } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { createReplacements, type ReplacementLimits, type Replaced } from "./replacements.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A run on two devices, unless told otherwise, whose openings the test ends. */
function setUp(limits: Partial<ReplacementLimits> = {}, devices = "2*cpu") {
  const log: string[] = [];
  const specs = parseDevices(devices);
  const alive = new Set(specs.keys());
  let next = specs.length;
  const openings: { succeed: () => void; fail: (reason: string) => void }[] = [];
  const replacements = createReplacements({
    retries: 2,
    delayMs: 1000,
    minDevices: 1,
    ...limits,
    devices: specs,
    open: (_, replaced) =>
      new Promise((resolve, reject) => {
        log.push(`opening ${next} for ${forWhom(replaced)}`);
        openings.push({
          fail: (reason) => reject(new Error(reason)),
          succeed: () =>
            resolve(() => {
              alive.add(next);
              log.push(`joined ${next}`);
              return next++;
            }),
        });
      }),
    living: () => alive.size,
    onLost: ({ device, reason, retry }) => log.push(`lost ${device} (${retry}): ${reason}`),
    onRetryFailed: ({ device, retry, reason }) =>
      log.push(`retry ${retry} of ${device} failed: ${reason}`),
    onTooFew: (left) => log.push(`${left} left`),
    onFailure: (error) => log.push(`failure: ${String(error)}`),
  });
  /** The device is dead; a moment later its loss is told. */
  const die = (device: number) => void alive.delete(device);
  const lose = (device: number, { ended = true } = {}) => {
    die(device);
    const reason = new TrainerError("DEVICE_FAILED", "it broke");
    const handOn = () => void log.push(`handed on ${device}`);
    replacements.lost({ device, reason, ended, handOn });
  };
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const took = () => log.splice(0);
  return { replacements, openings, alive, die, lose, pass, took };
}

const forWhom = (replaced: Replaced | null) =>
  replaced === null ? "nobody" : `${replaced.device}, retry ${replaced.retry}`;

test("a lost device is opened anew after 1 s, the next one after 2 s, then it is given up", async () => {
  const { openings, lose, pass, took } = setUp();
  lose(1);
  expect(took()).toEqual(["lost 1 (1): it broke", "handed on 1"]);
  await pass(999);
  expect(took()).toEqual([]);
  await pass(1);
  expect(took()).toEqual(["opening 2 for 1, retry 1"]);
  openings[0]!.succeed();
  await pass(0);
  expect(took()).toEqual(["joined 2"]);
  lose(2);
  await pass(1999);
  expect(took()).toEqual(["lost 2 (2): it broke", "handed on 2"]);
  await pass(1);
  expect(took()).toEqual(["opening 3 for 2, retry 2"]);
  openings[1]!.succeed();
  await pass(0);
  lose(3);
  await pass(60_000);
  expect(took()).toEqual([
    "joined 3",
    "lost 3 (null): it broke; given up after 2 retries",
    "handed on 3",
  ]);
});

test("the loss of the last device is told once another has joined", async () => {
  const { openings, lose, pass, took } = setUp();
  lose(0);
  lose(1);
  expect(took()).toEqual(["lost 0 (1): it broke", "handed on 0"]);
  await pass(1000);
  expect(took()).toEqual(["opening 2 for 0, retry 1"]);
  openings[0]!.succeed();
  await pass(0);
  expect(took()).toEqual([
    "joined 2",
    "lost 1 (1): it broke",
    "handed on 1",
    "opening 3 for 1, retry 1",
  ]);
});

test("while another device is dying, whose loss is not known yet, nothing ends", async () => {
  const { openings, die, lose, pass, took } = setUp({ retries: 1 });
  die(0);
  lose(1);
  await pass(1000);
  openings[0]!.fail("no room");
  await pass(0);
  expect(took()).toEqual(["opening 2 for 1, retry 1", "retry 1 of 1 failed: no room"]);
  lose(0);
  await pass(1000);
  openings[1]!.succeed();
  await pass(0);
  expect(took()).toEqual([
    "opening 2 for 0, retry 1",
    "joined 2",
    "lost 1 (1): it broke",
    "handed on 1",
    "lost 0 (1): it broke",
    "handed on 0",
  ]);
});

test("when nobody comes any more, all losses are told, then that none is left", async () => {
  const { openings, lose, pass, took } = setUp({ retries: 2 }, "cpu");
  lose(0);
  await pass(1000);
  openings[0]!.fail("no room");
  await pass(2000);
  openings[1]!.fail("no room either");
  await pass(0);
  expect(took()).toEqual([
    "opening 1 for 0, retry 1",
    "retry 1 of 0 failed: no room",
    "opening 1 for 0, retry 2",
    "retry 2 of 0 failed: no room either",
    "lost 0 (1): it broke",
    "handed on 0",
    "0 left",
  ]);
});

test("a device whose thread can't be ended is not opened anew, and the reason says why", async () => {
  const { lose, pass, took } = setUp();
  lose(1, { ended: false });
  await pass(60_000);
  const [lost, ...rest] = took();
  expect(lost).toMatch(/^lost 1 \(null\): it broke; it is not opened anew: its thread is stuck/);
  expect(rest).toEqual(["handed on 1"]);
});

test("fewer devices than needed, those on their way included, are too few", async () => {
  const { openings, replacements, lose, pass, took } = setUp(
    { retries: 1, minDevices: 2 },
    "3*cpu",
  );
  lose(0);
  lose(1);
  expect(took()).toEqual([
    "lost 0 (1): it broke",
    "handed on 0",
    "lost 1 (1): it broke",
    "handed on 1",
  ]);
  await pass(1000);
  openings[0]!.fail("no room");
  await pass(0);
  expect(took()).toEqual([
    "opening 3 for 0, retry 1",
    "retry 1 of 0 failed: no room",
    "opening 3 for 1, retry 1",
  ]);
  openings[1]!.fail("no room");
  await pass(0);
  expect(took()).toEqual(["retry 1 of 1 failed: no room", "1 left"]);
  // It is told once.
  lose(2);
  expect(took()).toEqual(["lost 2 (null): it broke", "handed on 2"]);
  await expect(replacements.add(parseDevices("cpu")[0]!)).rejects.toMatchObject({
    code: "RUN_OVER",
  });
});

test("devices are opened one after another, an added one keeps a run alive", async () => {
  const { openings, replacements, lose, pass, took } = setUp({ retries: 0 }, "cpu");
  const [spec] = parseDevices("cpu");
  const added = [replacements.add(spec!), replacements.add(spec!)];
  await pass(0);
  lose(0);
  expect(took()).toEqual(["opening 1 for nobody"]);
  openings[0]!.succeed();
  await pass(0);
  expect(took()).toEqual([
    "joined 1",
    "lost 0 (null): it broke",
    "handed on 0",
    "opening 2 for nobody",
  ]);
  openings[1]!.succeed();
  expect(await Promise.all(added)).toEqual([1, 2]);
});

test("more devices than can run at once are refused", async () => {
  const { replacements } = setUp({}, "64*cpu");
  await expect(replacements.add(parseDevices("cpu")[0]!)).rejects.toMatchObject({
    code: "DEVICE_SPEC",
  });
});

test("once the run is over nothing is opened and nothing joins", async () => {
  const { openings, replacements, lose, pass, took } = setUp();
  const added = replacements.add(parseDevices("cpu")[0]!);
  const refused = added.catch((error: unknown) => error);
  await pass(0);
  lose(1);
  took();
  replacements.stop();
  openings[0]!.succeed();
  expect(await refused).toMatchObject({ code: "RUN_OVER" });
  await pass(60_000);
  expect(took()).toEqual([]);
});
