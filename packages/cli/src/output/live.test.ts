import type { RunEvent } from "@heterosgd/trainer";
import { afterEach, expect, test, vi } from "vitest";
import { showLive } from "./live.js";
import { createOutput } from "./output.js";

afterEach(() => void vi.unstubAllEnvs());

const limits = {
  rows: 10,
  epochs: 2,
  maxSteps: null,
  maxSeconds: null,
  evaluates: false,
  isSimulated: false,
};
const start = {
  at: 0,
  type: "start",
  devices: [{ device: 0, name: "device 0 (cpu)", kernels: "plain" }],
} as unknown as RunEvent;
const epoch = (at: number) => ({ at, type: "epoch", epoch: 0 }) as unknown as RunEvent;

const twoEpochs = [start, epoch(1), epoch(5)];

/** What a run writes of its events: by default two epochs, of which only the second ends after some time. */
function written(isTTY: boolean, events = twoEpochs): string {
  let text = "";
  const stream = { write: (part: string) => (text += part), isTTY, columns: 80, rows: 24 };
  const output = createOutput({ stdout: stream, stderr: stream, verbosity: "normal", json: false });
  const view = showLive(output, limits, () => undefined);
  for (const event of events) view.event(event);
  view.close();
  return text;
}

test("on a terminal every epoch's line stays", () => {
  vi.stubEnv("TERM", "xterm");
  const text = written(true);
  // Those of the status rows are followed by a command to the terminal.
  const lines = text.split("\n").filter((line) => /epoch 1\/2[ \w%/.]*$/.test(line));
  expect(lines).toHaveLength(2);
  expect(text).toContain("\u001b[?25h");
});

test("elsewhere lines come now and then, and a dumb terminal is treated so", () => {
  vi.stubEnv("TERM", "dumb");
  for (const isTTY of [true, false]) {
    const text = written(isTTY);
    expect(text).not.toContain("\u001b");
    expect(text.match(/^epoch 1\/2/gm)).toHaveLength(1);
  }
});

test("a lost device's retries are told of", () => {
  const text = written(false, [
    start,
    { at: 1, type: "lost", device: 0, reason: "it is gone", retry: 1 },
    { at: 2, type: "retry-failed", device: 0, retry: 1, reason: "there is no room" },
    {
      at: 3,
      type: "joined",
      device: { id: 1, maxBatchRows: 8 },
      name: "device 1 (cpu)",
      kernels: "plain",
      replaces: { device: 0, retry: 2 },
    },
    { at: 4, type: "lost", device: 1, reason: "it is gone too", retry: null },
  ]);
  expect(text).toContain("a device was lost and is opened anew (retry 1): it is gone\n");
  expect(text).toContain("a device could not be opened anew: there is no room\n");
  expect(text).toContain("a device has joined: device 1 (cpu), instead of device 0\n");
  expect(text).toContain("the last device was lost: it is gone too\n");
});

test("of a lost device is said whether others are left", () => {
  const names = ["device 0 (cpu)", "device 1 (cpu)"];
  const devices = names.map((name, device) => ({ device, name, kernels: "plain" }));
  const lost = (device: number) =>
    ({ at: 1, type: "lost", device, reason: "it is gone", retry: null }) as RunEvent;
  const text = written(false, [{ ...start, devices } as unknown as RunEvent, lost(1), lost(0)]);
  expect(text).toMatch(
    /a device was lost, the others go on: it is gone\n.*the last device was lost/s,
  );
});

test("who joins is named", () => {
  const joined = { at: 2, type: "joined", device: { id: 0, maxBatchRows: 8 } } as RunEvent;
  expect(written(false, [start, joined])).toContain("a device has joined: device 0 (cpu)\n");
});
