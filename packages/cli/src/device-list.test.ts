import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devicesFile, formatDevice, parseDevices, type DeviceSpec } from "@heterosgd/trainer";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  addedDevices,
  changeDeviceList,
  parseDeviceList,
  readDeviceList,
  watchDeviceList,
  writeDeviceList,
} from "./device-list.js";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "device-list-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = (specs: readonly DeviceSpec[]) => specs.map(formatDevice).join();

test("what is new is what the list has more often", () => {
  const added = (has: string, wanted: string) =>
    names(addedDevices(parseDevices(has), parseDevices(wanted)));
  expect(added("cpu", "cpu,cpu@0.5")).toBe("cpu@0.5");
  expect(added("cpu", "3*cpu")).toBe("cpu,cpu");
  expect(added("cpu,cpu:2", "cpu:2")).toBe("");
});

test.each(["", "[]", "{}", '{"devices":["cpu"]}', '{"devices":"cpu","more":1}'])(
  "a list that is none is refused: %s",
  (text) => {
    expect(() => parseDeviceList(text, "devices.json")).toThrow(/^devices\.json /);
  },
);

test("devices that several add at once are all on the list", async () => {
  await writeDeviceList(folder, parseDevices("cpu"));
  const add = (spec: string) =>
    changeDeviceList(folder, async () => {
      const there = parseDeviceList(readDeviceList(folder)!, folder);
      await writeDeviceList(folder, [...there, ...parseDevices(spec)]);
    });
  await Promise.all(["cpu:2", "cpu:3", "cpu:4"].map(add));
  const listed = parseDeviceList(readDeviceList(folder)!, folder).map(formatDevice);
  expect(listed.toSorted()).toEqual(["cpu", "cpu:2", "cpu:3", "cpu:4"]);
  expect(readdirSync(folder)).toEqual([devicesFile]);
});

test("whoever was killed over a list is not waited for for ever", async () => {
  const turn = join(folder, `${devicesFile}.lock`);
  writeFileSync(turn, "");
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(turn, longAgo, longAgo);
  expect(await changeDeviceList(folder, () => Promise.resolve(3))).toBe(3);
});

function watched() {
  const added: string[] = [];
  const failed: string[] = [];
  const warnings: string[] = [];
  const watch = watchDeviceList({
    folder,
    devices: parseDevices("cpu"),
    warn: (text) => warnings.push(text),
    onFailed: (spec, reason) => failed.push(`${spec}: ${reason}`),
  });
  const control = {
    add(spec: DeviceSpec) {
      added.push(formatDevice(spec));
      return spec.threads > 8 ? Promise.reject(new Error("too many")) : Promise.resolve(1);
    },
  };
  return { watch, control, added, failed, warnings };
}

test("a list that was written before the run was ready is read then", async () => {
  const { watch, control, added } = watched();
  expect(watch.look()).toBe(false);
  await writeDeviceList(folder, parseDevices("cpu,cpu@0.5"));
  expect(watch.look()).toBe(true);
  expect(added).toEqual([]);
  watch.ready(control);
  await vi.waitFor(() => expect(added).toEqual(["cpu@0.5"]));
  expect(watch.look()).toBe(false);
  watch.stop();
});

test("a device that can't be had leaves the list, and does not come again with others", async () => {
  const { watch, control, added, failed, warnings } = watched();
  watch.ready(control);
  await writeDeviceList(folder, parseDevices("cpu,cpu:9"));
  watch.look();
  await vi.waitFor(() => expect(failed).toEqual(["cpu:9: too many"]));
  const list = () => JSON.parse(readFileSync(join(folder, "devices.json"), "utf8")) as unknown;
  await vi.waitFor(() => expect(list()).toEqual({ devices: "cpu" }));
  expect(watch.look()).toBe(false);
  await writeDeviceList(folder, parseDevices("cpu,cpu:2"));
  expect(watch.look()).toBe(true);
  await vi.waitFor(() => expect(added).toEqual(["cpu:9", "cpu:2"]));
  writeFileSync(join(folder, "devices.json"), '{"devices":"cpu"}');
  expect(watch.look()).toBe(true);
  expect(warnings.join()).toContain("none is taken away");
  watch.stop();
});
