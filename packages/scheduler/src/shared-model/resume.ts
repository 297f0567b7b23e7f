import type { DeviceInfo } from "../contract.js";
import { checkedSetup, requireSome } from "../common/devices.js";
import type { CheckedDevice } from "../common/devices.js";
import { resumed } from "../common/run.js";
import type { SharedModelAlgorithm, SharedModelDevice, SharedModelState } from "./algorithm.js";
import { nothing } from "./check-state.js";

/** The state as it goes on from a checkpoint, on the same devices (null) or on others. */
export function resumedState(
  algorithm: SharedModelAlgorithm,
  state: SharedModelState,
  devices: readonly DeviceInfo[] | null,
): SharedModelState {
  const going = resumed(state, algorithm.settings);
  const { rows } = state.queue;
  if (devices !== null) {
    const empty: SharedModelState = { ...going, devices: [] };
    return checkedSetup({ devices, rows }).reduce((all, one) => enter(algorithm, all, one), empty);
  }
  requireSome(going.devices);
  const movesSizes = algorithm.resize !== undefined;
  const sized = going.devices.map((device) => {
    const most = Math.min(algorithm.maxBatchRows, device.maxBatchRows);
    const wanted = movesSizes ? device.batchRows : algorithm.batchRows(device, rows);
    return { ...device, batchRows: Math.min(wanted, most) };
  });
  return { ...going, devices: sized };
}

/**
 * The device joins, at the slowest one's clock, so that it has nobody wait for it longer, and at the
 * least u, so that the others' sizes go by what they did since.
 */
export function enter(
  algorithm: SharedModelAlgorithm,
  state: SharedModelState,
  device: CheckedDevice,
): SharedModelState {
  algorithm.admit?.(device);
  const least = (key: "clock" | "credit") =>
    state.devices.length === 0 ? 0 : Math.min(...state.devices.map((other) => other[key]));
  const entering: SharedModelDevice = {
    ...device,
    batchRows: algorithm.batchRows(device, state.queue.rows),
    jobs: [],
    clock: least("clock"),
    credit: least("credit"),
    learningRate: 0,
    since: nothing,
  };
  return { ...state, devices: [...state.devices, entering] };
}
