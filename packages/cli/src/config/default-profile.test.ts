import { algorithms } from "@heterosgd/scheduler";
import { builtInProfiles } from "@heterosgd/trainer";
import { expect, test } from "vitest";
import {
  defaultProfile,
  defaultProfileWords,
  suitableProfiles,
  usefulDevices,
} from "./default-profile.js";

test("whoever needs hosts gets a profile that has them", () => {
  expect(defaultProfile("adaptive-sgd")).toBe("four-v100");
  expect(defaultProfile("hogbatch")).toBe("cpu48-k80");
  expect(defaultProfile("hogwild")).toBe("cpu48-k80");
  expect(defaultProfileWords()).toBe(
    "four-v100; cpu48-k80 with hogbatch, adaptive-hogbatch, hogwild",
  );
});

test.each(Object.keys(algorithms))(
  "%s has a use for its default profile from the start",
  (name) => {
    const profile = builtInProfiles[defaultProfile(name)]!;
    const devices = usefulDevices(profile, name);
    expect(devices.filter(({ joins = 0 }) => joins === 0).length).toBeGreaterThan(0);
    expect(suitableProfiles(name)).toContain(profile.name);
  },
);

test("accelerators are left out for an algorithm of hosts alone", () => {
  const kinds = (profile: string) =>
    usefulDevices(builtInProfiles[profile]!, "hogwild").map(({ kind }) => kind);
  expect(kinds("cpu48-v100")).toEqual(["cpu"]);
  expect(kinds("four-v100")).toEqual([]);
  expect(usefulDevices(builtInProfiles["cpu48-v100"]!, "sync")).toHaveLength(2);
});
