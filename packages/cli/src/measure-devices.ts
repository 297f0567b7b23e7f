/** How fast devices train, measured on made-up rows for a moment. */
import { uniformMerge } from "@heterosgd/merge";
import { adaptiveSgd, type Policy } from "@heterosgd/scheduler";
import { allocateShared, createRandom, createDatasetBuilder } from "@heterosgd/sparse";
import { train, type DeviceSpec, type DeviceSummary, type GpujsSupport } from "@heterosgd/trainer";
import type { SharedDataset } from "./data.js";

/** The step that devices are measured by. */
export const probe = {
  rows: 2048,
  features: 20_000,
  valuesPerRow: 50,
  hidden: 128,
  labels: 1000,
  labelsPerRow: 3,
  batchRows: 128,
  seconds: 1,
} as const;

export const probeWords =
  `${probe.features.toLocaleString("en-US")} features (${probe.valuesPerRow} a row), ` +
  `${probe.hidden} hidden units, ${probe.labels.toLocaleString("en-US")} labels, batches of ${probe.batchRows}`;

let rows: SharedDataset | undefined;

/**
 * Trains on all of them at once, as in a run.
 *
 * @param gpujs - what it offers, where one of them runs on it.
 *
 * @throws TrainerError or a device's own error if one can't be opened, or NO_DEVICES.
 */
export async function measureDevices(
  devices: readonly DeviceSpec[],
  seconds: number = probe.seconds,
  gpujs?: GpujsSupport,
): Promise<readonly DeviceSummary[]> {
  const policy: Policy = adaptiveSgd({
    epochs: Infinity,
    schedule: { kind: "constant", rate: 0.01 },
    merge: uniformMerge(),
    batch: { max: probe.batchRows },
    batchScaling: { rule: "off" },
    evaluateEvery: "never",
  });
  const { devices: measured } = await train({
    train: (rows ??= probeData()),
    evaluation: null,
    shape: {
      features: probe.features,
      hidden: [probe.hidden],
      labels: probe.labels,
      activation: "relu",
      loss: "softmax",
    },
    rule: null,
    devices,
    gpujs,
    policy,
    seed: 1,
    maxSeconds: seconds,
    deviceRetries: 0,
  });
  return measured;
}

function probeData(): SharedDataset {
  const random = createRandom(1);
  const distinct = (count: number, bound: number) => {
    const chosen = new Set<number>();
    while (chosen.size < count) chosen.add(random.nextBelow(bound));
    return [...chosen];
  };
  const builder = createDatasetBuilder({ features: probe.features, labels: probe.labels });
  for (let i = 0; i < probe.rows; i++) {
    builder.addRow({
      features: distinct(probe.valuesPerRow, probe.features).map((index) => [index, 1] as const),
      labels: distinct(probe.labelsPerRow, probe.labels),
    });
  }
  return builder.finish(allocateShared);
}
