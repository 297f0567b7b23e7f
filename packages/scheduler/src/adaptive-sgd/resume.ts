import type { CheckpointModels, DeviceInfo } from "../contract.js";
import { boundsFor, clamp } from "../batch-size.js";
import { checkedSetup, requireSome } from "../common/devices.js";
import { invalid } from "../common/shape.js";
import { withEpochs } from "../row-queue.js";
import type { Settings } from "./options.js";
import type { AdaptiveSgdState } from "./state.js";

/** What has to be saved so that the run can go on as if nothing had happened. */
export function savedModels({ merge }: Settings): CheckpointModels {
  return merge.momentum > 0 ? ["global", "previous"] : ["global"];
}

/** The state as it goes on from a checkpoint, on the same devices (null) or on others. */
export function resumedState(
  settings: Settings,
  state: AdaptiveSgdState,
  devices: readonly DeviceInfo[] | null,
): AdaptiveSgdState {
  const { phase, queue } = state;
  if (phase.name !== "saving" && phase.name !== "stopped") {
    throw invalid("phase.name", phase.name, '"saving" or "stopped"');
  }
  const going = { ...state, finish: null, queue: withEpochs(queue, settings.epochs) };
  if (devices !== null) {
    return { ...going, devices: [], joined: checkedSetup({ devices, rows: queue.rows }) };
  }
  requireSome([...state.devices, ...state.joined]);
  const sized = going.devices.map((device) => ({
    ...device,
    batchRows: clamp(device.batchRows, boundsFor(settings.bounds, device.maxBatchRows)),
  }));
  return { ...going, devices: sized };
}
