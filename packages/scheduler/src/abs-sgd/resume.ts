import type { CheckpointModels, DeviceInfo } from "../contract.js";
import { checkedSetup, requireSome } from "../common/devices.js";
import { resumed } from "../common/run.js";
import type { Settings } from "./options.js";
import { accumulatorsOf, giveBack, rowsPending } from "./state.js";
import type { AbsSgdState } from "./state.js";

/**
 * What has to be saved so that the run can go on as if nothing had happened. No replica is: each
 * device pulls before it next begins a sum.
 */
export function savedModels({ momentum }: Settings, { devices }: AbsSgdState): CheckpointModels {
  const holding = devices.filter(({ filled }) => filled.microBatches > 0);
  return [
    "global",
    ...(momentum > 0 ? (["previous"] as const) : []),
    ...holding.map((device) => accumulatorsOf(device)[0]),
  ];
}

/** The state as it goes on from a checkpoint, on the same devices (null) or on others. */
export function resumedState(
  settings: Settings,
  state: AbsSgdState,
  devices: readonly DeviceInfo[] | null,
): AbsSgdState {
  const going = resumed(state, settings);
  if (devices === null) {
    requireSome([...going.devices, ...going.joined]);
    return going;
  }
  const joined = checkedSetup({ devices, rows: state.queue.rows });
  return { ...giveBack(going, going.devices, rowsPending), devices: [], joined };
}
