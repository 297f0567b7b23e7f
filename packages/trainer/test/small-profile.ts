import type { Profile } from "../src/index.js";

/** Kinds of devices for short simulations: two that jitter, and one whose times can be told in the head. */
export const profile: Profile = {
  name: "test",
  description: "Devices for tests.",
  measured: false,
  link: { latency: 1e-4, bandwidth: 1e8 },
  kinds: {
    gpu: { fixed: 1e-3, perRow: 1e-4, perNonZero: 1e-5, jitter: 0.1 },
    acc: { fixed: 4e-3, perRow: 4e-4, perNonZero: 1e-6, jitter: 0.1, role: "accelerator" },
    exact: { fixed: 1, perRow: 0, perNonZero: 0 },
  },
  devices: [{ kind: "gpu" }, { kind: "gpu", speed: 0.5 }],
};
