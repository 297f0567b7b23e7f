import { expect, test, vi } from "vitest";
import { startDevice } from "../src/device/supervisor.js";
import { buildWorker } from "./build-worker.js";

const url = await buildWorker("faulty.worker");
const start = (leaveMs = 0) => startDevice("device 0 (cpu)", { workerUrl: url, leaveMs });

test("an error crosses from the worker with its code", async () => {
  const device = start();
  await expect(device.call(10_000, (api) => api.pull(1))).rejects.toMatchObject({
    name: "RangeError",
    message: "the device is full",
    code: "FULL",
  });
  expect(await device.call(10_000, (api) => api.pull(0))).toBe(0);
  expect(await device.close(10_000)).toBeNull();
});

test("a worker that exits rejects the call in flight and every later one", async () => {
  const device = start();
  await expect(device.call(10_000, (api) => api.pull(2))).rejects.toMatchObject({
    code: "DEVICE_EXITED",
    message: expect.stringContaining("exit code 7"),
  });
  expect((await device.death).code).toBe("DEVICE_EXITED");
  await expect(device.call(10_000, (api) => api.pull(0))).rejects.toMatchObject({
    code: "DEVICE_EXITED",
  });
});

test("a call that ends with its worker leaves no timer, which would keep the process alive", async () => {
  const set = vi.spyOn(globalThis, "setTimeout");
  const clear = vi.spyOn(globalThis, "clearTimeout");
  const device = start();
  await expect(device.call(98_765, (api) => api.pull(2))).rejects.toThrow("exit code 7");
  const place = set.mock.calls.findIndex(([, delay]) => delay === 98_765);
  expect(clear).toHaveBeenCalledWith(set.mock.results[place]?.value);
  vi.restoreAllMocks();
});

test("a worker that dies of an uncaught error says which", async () => {
  const device = start();
  await expect(device.call(10_000, (api) => api.pull(3))).rejects.toMatchObject({
    code: "DEVICE_FAILED",
    message: expect.stringContaining("late failure"),
  });
});

test("a worker that dies of something that is no error says so", async () => {
  const device = start();
  await expect(device.call(10_000, (api) => api.pull(6))).rejects.toMatchObject({
    code: "DEVICE_FAILED",
    message: "device 0 (cpu) failed: null",
  });
});

test("a time-out that comes due while the whole process is stopped starts again", async () => {
  const device = start();
  await device.call(10_000, (api) => api.pull(0));
  // From here on, timers come before messages.
  await new Promise((resolve) => setImmediate(resolve));
  const answer = device.call(100, (api) => api.pull(0));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  expect(await answer).toBe(0);
  await device.close(10_000);
});

test("a time-out longer than any timer is no time-out at once", async () => {
  const device = start();
  expect(await device.call(1e12, (api) => api.pull(0))).toBe(0);
  await device.close(10_000);
});

test("closing does not wait for ever for a worker that answers and goes on", async () => {
  const device = start();
  expect(await device.call(10_000, (api) => api.pull(5))).toBe(5);
  expect(await device.close(100)).toBeNull();
});

test.each([
  ["waits for ever", 4],
  ["blocks its thread", 7],
])("a worker that %s is given up after the time-out, and can be ended", async (_, what) => {
  const device = start();
  await expect(device.call(50, (api) => api.pull(what))).rejects.toMatchObject({
    code: "DEVICE_TIMEOUT",
  });
  await device.terminate();
  await expect(device.call(10_000, (api) => api.pull(0))).rejects.toMatchObject({
    code: "DEVICE_EXITED",
  });
});

test.each([
  ["is ended at once", 0, "exit code 1"],
  ["has time to leave ends by itself, though a call is in flight", 60_000, "exit code 0"],
])("a worker that %s", async (_, leaveMs, end) => {
  const device = start(leaveMs);
  const answer = device.call(60_000, (api) => api.pull(4));
  answer.catch(() => undefined);
  await device.call(60_000, (api) => api.pull(0));
  expect(await device.terminate()).toBe(true);
  await expect(answer).rejects.toThrow(end);
  expect(await device.terminate()).toBe(true);
});

test("a worker that does not leave in time is ended by force", async () => {
  const device = start(50);
  await device.call(60_000, (api) => api.pull(0));
  const answer = device.call(60_000, (api) => api.pull(7));
  answer.catch(() => undefined);
  expect(await device.terminate()).toBe(true);
  await expect(answer).rejects.toThrow("exit code 1");
});

test("closing ends the worker by itself and is not reported as a death", async () => {
  const device = start();
  expect(await device.call(10_000, (api) => api.pull(0))).toBe(0);
  await device.close(10_000);
  const death = await Promise.race([
    device.death,
    new Promise((resolve) => setTimeout(resolve, 20, "none")),
  ]);
  expect(death).toBe("none");
});
