import { expect, test } from "vitest";
import { defaultDevices, formatDevice, parseDevices } from "./device-spec.js";

test("a list names devices, handicaps and counts", () => {
  expect(parseDevices("cpu, cpu@0.5,2*cpu@.25")).toEqual([
    { kind: "cpu", threads: 1, speed: 1, role: "host" },
    { kind: "cpu", threads: 1, speed: 0.5, role: "host" },
    { kind: "cpu", threads: 1, speed: 0.25, role: "host" },
    { kind: "cpu", threads: 1, speed: 0.25, role: "host" },
  ]);
});

test("a device may have threads", () => {
  expect(parseDevices("cpu:4,2*cpu:256@0.5,cpu:1")).toEqual([
    { kind: "cpu", threads: 4, speed: 1, role: "host" },
    { kind: "cpu", threads: 256, speed: 0.5, role: "host" },
    { kind: "cpu", threads: 256, speed: 0.5, role: "host" },
    { kind: "cpu", threads: 1, speed: 1, role: "host" },
  ]);
});

test("a device may have a role, alone and beside threads and a handicap", () => {
  const accelerator = { kind: "cpu", speed: 1, role: "accelerator" } as const;
  expect(parseDevices("cpu:4,cpu:2:role=accelerator,cpu:role=accelerator:3@0.5")).toEqual([
    { kind: "cpu", threads: 4, speed: 1, role: "host" },
    { ...accelerator, threads: 2 },
    { ...accelerator, threads: 3, speed: 0.5 },
  ]);
  expect(parseDevices("cpu:role=host")).toEqual(parseDevices("cpu"));
});

test("a device is formatted as it is read", () => {
  const texts = ["cpu", "cpu@0.5", "cpu:4", "cpu:2@0.25", "cpu:2:role=accelerator@0.5"];
  for (const text of texts) expect(parseDevices(text).map(formatDevice)).toEqual([text]);
});

test.each([
  ["", "cannot read device"],
  ["cpu,,cpu", "cannot read device"],
  ["cpu@", "cannot read device"],
  ["cpu@0", "speed"],
  ["cpu@1.5", "speed"],
  ["cpu@-1", "speed"],
  ["cpu@fast", "speed"],
  ["cpu@nan", "speed"],
  ["0*cpu", "no device at all"],
  ["65*cpu", "at most 64"],
  ["tpu", 'unknown device kind "tpu"'],
  ["cpu:0", "threads"],
  ["cpu:", "threads"],
  ["cpu:257", "from 1 to 256"],
  ["cpu:1.5", "threads"],
  ["cpu:all@0.5", '"all" threads'],
  ["cpu:2:3", "threads twice"],
  ["cpu:role=gpu", "expected host or accelerator"],
  ["cpu:role=", "expected host or accelerator"],
  ["cpu:role=host:role=host", "role twice"],
  ["cpu:color=red", 'sets "color"'],
])("%j is refused, and the message says why", (text, message) => {
  expect(() => parseDevices(text)).toThrowError(message);
  expect(() => parseDevices(text)).toThrowError(expect.objectContaining({ code: "DEVICE_SPEC" }));
});

test("there is one default device a core, and at least one", () => {
  expect(defaultDevices(2)).toHaveLength(2);
  expect(defaultDevices(0)).toHaveLength(1);
  expect(defaultDevices(1000)).toHaveLength(64);
});
