import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatDevice, parseDevices, type DeviceSpec } from "@heterosgd/trainer";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { addedDevices, parseDeviceList, watchDeviceList, writeDeviceList } from "./device-list.js";

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
