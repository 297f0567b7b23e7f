import { expect, test } from "vitest";
import type { Profile } from "./profile.js";
import { createTiming } from "./timing.js";

const profile: Profile = {
  name: "p",
  description: "Round numbers.",
  measured: false,
  network: { hidden: [10], labels: 100 },
  link: { latency: 0, bandwidth: 1 },
  kinds: { cpu: { fixed: 1, perUpdate: 10, perRow: 100, perNonZero: 1000, threads: 4 } },
  devices: [{ kind: "cpu" }],
};
const shape = {
  features: 9,
  hidden: [10],
  labels: 200,
  activation: "relu",
  loss: "softmax",
} as const;

test("a batch costs an update once; steps of single rows cost it once for as many as there are threads", () => {
  const timing = createTiming(profile, { kind: "cpu" }, shape, { seed: 1, id: 0 });
  const work = { rows: 8, nonZeros: 20 };
  // Twice the labels: an update and a row take twice as long.
  const rows = 8 * 200 + 20 * 1000;
  expect(timing.seconds({ ...work, updates: 1 })).toBe(1 + 20 + rows);
  expect(timing.seconds({ ...work, updates: 8 })).toBe(2 * (1 + 20) + rows);
  expect(timing.seconds({ ...work, updates: 5 })).toBe(2 * (1 + 20) + rows);
});
