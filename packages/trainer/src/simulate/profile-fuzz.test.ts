/** Profiles of strangers. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  changedJson,
  fuzzCases,
  fuzzParameters,
  fuzzTimeout,
  readOrRefuse,
  strangeNames,
} from "../../../../test-support/hostile-files.js";
import { TrainerError } from "../errors.js";
import { builtInProfiles } from "./built-in-profiles.js";
import { checkProfile, MOST_SIMULATED_DEVICES, type Profile } from "./profile.js";
import { formatSimulatedDevice, parseSimulatedDevices } from "./simulated-devices.js";

/** Checks the document as it comes out of a file, and uses what it says of every device. */
function readProfile(document: unknown): Promise<Profile | undefined> {
  const text = JSON.stringify(document);
  return readOrRefuse(
    text.length,
    () => checkProfile(JSON.parse(text), "x.json"),
    (error) => error instanceof TrainerError && error.code === "PROFILE",
  );
}

function expectSound(profile: Profile): void {
  expect(typeof profile.name).toBe("string");
  for (const device of profile.devices) {
    expect(Object.hasOwn(profile.kinds, device.kind)).toBe(true);
    // A speed over time is no part of what it is called.
    const named = formatSimulatedDevice({ ...device, speed: 1 });
    expect(parseSimulatedDevices(named, profile)[0]!.kind).toBe(device.kind);
    const { fixed, perRow, perNonZero } = profile.kinds[device.kind]!;
    expect(fixed + perRow + perNonZero).toBeGreaterThan(0);
  }
}

test("a profile that somebody has changed is taken or refused", fuzzTimeout, async () => {
  let taken = 0;
  const documents = Object.values(builtInProfiles).map(changedJson);
  await fc.assert(
    fc.asyncProperty(fc.oneof(...documents), async (document) => {
      const changed = await readProfile(document);
      if (changed === undefined) return;
      taken++;
      expectSound(changed);
    }),
    fuzzParameters,
  );
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(fuzzCases);
});

const profile = builtInProfiles["cpu48-v100"]!;

test("kinds named like what objects inherit are kinds like others, and none where they are not named", async () => {
  const kind = Object.values(profile.kinds)[0]!;
  for (const name of ["constructor", "toString", "valueOf"]) {
    expect(await readProfile({ ...profile, devices: [{ kind: name }] })).toBeUndefined();
    const named = { ...profile, kinds: { [name]: kind }, devices: [{ kind: name }] };
    expectSound((await readProfile(named))!);
  }
  for (const name of strangeNames.filter((each) => !/^[a-z]+$/i.test(each))) {
    const kinds = Object.fromEntries([[name, kind]]);
    expect(await readProfile({ ...profile, kinds, devices: [{ kind: name }] })).toBeUndefined();
  }
});

test.each<[string, object]>([
  ["a kind that is a list", { devices: [{ kind: [profile.devices[0]!.kind] }] }],
  ["a kind that can be no text", { devices: [{ kind: { toString: 1, valueOf: 1 } }] }],
  [
    "devices without end",
    { devices: Array.from({ length: MOST_SIMULATED_DEVICES + 1 }, () => profile.devices[0]) },
  ],
  [
    "kinds without end",
    { kinds: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, profile.kinds])) },
  ],
  ["layers without end", { network: { hidden: Array.from({ length: 1001 }, () => 1), labels: 1 } }],
  ["a name without end", { ["x".repeat(1_000_000)]: 1 }],
])("a profile with %s is refused", async (_, change) => {
  expect(await readProfile({ ...profile, ...change })).toBeUndefined();
});
