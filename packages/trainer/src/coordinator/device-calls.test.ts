import { expect, test } from "vitest";
import type { SupervisedDevice } from "../device/supervisor.js";
import { TrainerError } from "../errors.js";
import { createDeviceCalls } from "./device-calls.js";

/** A device whose calls and whose end the test decides on. */
function puppet(name: string) {
  const calls: { resolve: (value: unknown) => void; reject: (error: unknown) => void }[] = [];
  let die: (error: TrainerError) => void = () => undefined;
  let end: (ended: boolean) => void = () => undefined;
  const death = new Promise<TrainerError>((resolve) => (die = resolve));
  const ended = new Promise<boolean>((resolve) => (end = resolve));
  const device: SupervisedDevice = {
    name,
    death,
    call: <T>() =>
      new Promise<T>((resolve, reject) =>
        calls.push({ resolve: resolve as (value: unknown) => void, reject }),
      ),
    terminate: () => ended,
    close: async () => null,
  };
  return { device, calls, die, end };
}

function setUp() {
  const log: string[] = [];
  const puppets = [puppet("device 0"), puppet("device 1")];
  const calls = createDeviceCalls({
    devices: puppets.map(({ device }) => device),
    onLost({ device, reason, ended, handOn }) {
      log.push(`lost ${device}: ${reason.message}${ended ? "" : " (stuck)"}`);
      handOn();
    },
    onFailure: (error) => log.push(`failed: ${(error as Error).message}`),
  });
  const send = (id: number, what: string) =>
    calls.send(id, {
      work: async () => what,
      answer: (value) => log.push(`${what}: ${value}`),
      lost: () => log.push(`${what} is unanswered`),
    });
  return { log, puppets, calls, send };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("what a lost device owed is handed on once its thread has ended, after the loss is told", async () => {
  const { log, puppets, calls, send } = setUp();
  send(0, "first");
  send(0, "second");
  send(0, "third");
  puppets[0]!.calls[0]!.resolve(1);
  await settle();
  puppets[0]!.calls[1]!.reject(new Error("hung"));
  await settle();
  expect(calls.living()).toEqual([1]);
  puppets[0]!.calls[2]!.resolve(3);
  await settle();
  expect(log).toEqual(["first: 1"]);
  puppets[0]!.end(true);
  await settle();
  expect(log).toEqual([
    "first: 1",
    "lost 0: device 0 failed: hung",
    "second is unanswered",
    "third is unanswered",
  ]);
});

test("a device is lost once, whatever else goes wrong with it", async () => {
  const { log, puppets, calls, send } = setUp();
  send(0, "first");
  puppets[0]!.die(new TrainerError("DEVICE_EXITED", "gone"));
  puppets[0]!.calls[0]!.reject(new Error("gone too"));
  puppets[0]!.end(true);
  await settle();
  expect(log.filter((line) => line.startsWith("lost"))).toHaveLength(1);
  expect(calls.losses()).toHaveLength(1);
  send(0, "late");
  expect(log.at(-1)).toBe("late is unanswered");
  expect(puppets[0]!.calls).toHaveLength(1);
});

test("a device whose thread does not end is lost all the same, and that is said", async () => {
  const { log, puppets } = setUp();
  puppets[1]!.die(new TrainerError("DEVICE_TIMEOUT", "silent"));
  puppets[1]!.end(false);
  await settle();
  expect(log).toEqual(["lost 1: silent (stuck)"]);
});

test("a device that joins gets the next id, and calls", async () => {
  const { log, calls, send } = setUp();
  const late = puppet("device 2");
  expect(calls.join(late.device)).toBe(2);
  expect(calls.living()).toEqual([0, 1, 2]);
  send(2, "first");
  late.calls[0]!.resolve(1);
  await settle();
  late.die(new TrainerError("DEVICE_EXITED", "gone"));
  late.end(true);
  await settle();
  expect(log).toEqual(["first: 1", "lost 2: gone"]);
  expect(calls.living()).toEqual([0, 1]);
});

test("an error thrown while an answer is taken in is the run's failure, not the device's", async () => {
  const { log, puppets, calls } = setUp();
  calls.send(0, {
    work: async () => null,
    answer() {
      throw new RangeError("no such metric");
    },
  });
  puppets[0]!.calls[0]!.resolve(null);
  await settle();
  expect(log).toEqual(["failed: no such metric"]);
  expect(calls.living()).toEqual([0, 1]);
});

test("a device that does not exist is an error of the policy", () => {
  const { calls } = setUp();
  expect(() => calls.send(2, { work: async () => null })).toThrow(RangeError);
});
