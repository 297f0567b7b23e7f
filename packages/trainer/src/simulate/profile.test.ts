import { describe, expect, test } from "vitest";
import { builtInProfiles } from "./built-in-profiles.js";
import { checkProfile, type Profile } from "./profile.js";
import { formatSimulatedDevice, parseSimulatedDevices } from "./simulated-devices.js";
import { scaledKind } from "./timing.js";

const profile = builtInProfiles["four-v100"]!;

test.each<[string, (document: Record<string, unknown>) => unknown]>([
  ["kinds must be an object", (document) => (document["kinds"] = 3)],
  ["kinds must be at least one kind", (document) => (document["kinds"] = {})],
  ["kinds.gpu.fixed must be there", (document) => (document["kinds"] = { gpu: {} })],
  [
    "kinds.gpu.perUpdate must be a number of at least 0",
    (document) =>
      (document["kinds"] = { gpu: { fixed: 1, perUpdate: -1, perRow: 0, perNonZero: 0 } }),
  ],
  ["speedup must be left out", (document) => (document["speedup"] = 2)],
  [
    "link.bandwidth must be a number above 0",
    (document) => (document["link"] = { latency: 0, bandwidth: 0 }),
  ],
  ["devices[0].kind must be one of gpu", (document) => (document["devices"] = [{ kind: "tpu" }])],
  [
    "devices[0].leaves must be after",
    (document) => (document["devices"] = [{ kind: "gpu", joins: 3, leaves: 2 }]),
  ],
  [
    "devices[0].leaves must be a number",
    (document) => (document["devices"] = [{ kind: "gpu", leaves: "90" }]),
  ],
  [
    "devices[0].speed[1][0] must be later",
    (document) =>
      (document["devices"] = [
        {
          kind: "gpu",
          speed: [
            [0, 1],
            [0, 2],
          ],
        },
      ]),
  ],
  [
    "devices[0].speed[0][0] must be 0",
    (document) => (document["devices"] = [{ kind: "gpu", speed: [[1, 1]] }]),
  ],
  ["measured must be true or false", (document) => (document["measured"] = "no")],
])("a profile that is wrong is refused: %s", (message, change) => {
  const document = structuredClone(profile) as unknown as Record<string, unknown>;
  change(document);
  const refused = expect.objectContaining({
    code: "PROFILE",
    message: expect.stringContaining(message) as string,
  }) as Error;
  expect(() => checkProfile(document, "x.json")).toThrow(refused);
  expect(() => checkProfile(document, "x.json")).toThrow(/^the profile x\.json is wrong: /);
});

describe("devices of a profile by name", () => {
  const both: Profile = builtInProfiles["cpu48-k80"]!;

  test("counts, threads, roles, times and speeds", () => {
    expect(parseSimulatedDevices("gpu, 2*gpu@0.9,cpu:24:role=host", both)).toEqual([
      { kind: "gpu" },
      { kind: "gpu", speed: 0.9 },
      { kind: "gpu", speed: 0.9 },
      { kind: "cpu", threads: 24, role: "host" },
    ]);
    const text = "cpu:12:role=accelerator:joins=1.5:leaves=90@2";
    expect(parseSimulatedDevices(text, both).map(formatSimulatedDevice)).toEqual([text]);
  });

  test.each([
    ["tpu", "the profile cpu48-k80 has: cpu, gpu"],
    ["gpu@0", "speed"],
    ["gpu@fast", "speed"],
    ["gpu:0", "threads"],
    ["gpu:role=boss", "expected host or accelerator"],
    ["gpu:joins=-1", "joins"],
    ["gpu:joins=3:leaves=3", "leaves before it has joined"],
    ["gpu:colour=red", "colour"],
    ["0*gpu", "no device at all"],
    ["9999*gpu", "at most 1024"],
    ["", "cannot read"],
  ])("%j is refused, and the message says why", (text, message) => {
    expect(() => parseSimulatedDevices(text, both)).toThrow(
      expect.objectContaining({
        code: "DEVICE_SPEC",
        message: expect.stringContaining(message) as string,
      }) as Error,
    );
  });
});

test("times grow with the network: rows with dense products, non-zeros with the first layer", () => {
  const kind = { fixed: 1, perUpdate: 4, perRow: 2, perNonZero: 3 };
  const shape = { features: 5, activation: "relu", loss: "softmax" } as const;
  const network = { hidden: [10], labels: 100 };
  expect(scaledKind(kind, network, { ...shape, hidden: [20, 10], labels: 80 })).toEqual({
    fixed: 1,
    perUpdate: 4,
    perRow: 2,
    perNonZero: 6,
  });
  expect(scaledKind(kind, undefined, { ...shape, hidden: [20], labels: 1 })).toEqual(kind);
});
