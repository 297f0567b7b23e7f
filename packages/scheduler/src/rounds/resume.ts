import type { CheckpointModels, DeviceInfo } from "../contract.js";
import { checkedSetup, requireSome } from "../common/devices.js";
import { replicasOf } from "../common/models.js";
import { resumed } from "../common/run.js";
import type { RoundAlgorithm, RoundState } from "./algorithm.js";

/** What has to be saved so that the run can go on as if nothing had happened. */
export function savedModels(
  { rotation, keepsReplicas }: RoundAlgorithm,
  { devices }: RoundState,
): CheckpointModels {
  return [
    "global",
    ...(rotation.includes("previous") ? (["previous"] as const) : []),
    ...(keepsReplicas ? replicasOf(devices) : []),
  ];
}

/** The state as it goes on from a checkpoint, on the same devices (null) or on others. */
export function resumedState(
  algorithm: RoundAlgorithm,
  state: RoundState,
  devices: readonly DeviceInfo[] | null,
): RoundState {
  const going = resumed(state, algorithm.settings);
  if (devices !== null) {
    return { ...going, devices: [], joined: checkedSetup({ devices, rows: state.queue.rows }) };
  }
  requireSome([...going.devices, ...going.joined]);
  const { batchRows, maxBatchRows } = algorithm;
  const movesSizes = algorithm.resize !== undefined;
  const sized = going.devices.map((device) => {
    const wanted = movesSizes ? Math.min(device.batchRows, maxBatchRows) : batchRows;
    return { ...device, batchRows: Math.min(wanted, device.maxBatchRows) };
  });
  return { ...going, devices: sized };
}
