import type { PolicySetup } from "../contract.js";
import { checkProgress, infoFields, runFields } from "../common/run-shape.js";
import { amount, count, fixed, invalid, list, record } from "../common/shape.js";
import { epochsTaken } from "../row-queue.js";
import type { SharedModelDevice, SharedModelState } from "./algorithm.js";

/** What a device has done since a report that has just been made. */
export const nothing = { rows: 0, updates: 0, staleness: null, seconds: 0 } as const;

const shape = record<SharedModelState>({
  ...runFields,
  devices: list(
    record<SharedModelDevice>({
      ...infoFields,
      ...fixed({ jobs: [] }),
      batchRows: amount(1),
      clock: count(),
      credit: amount(),
      learningRate: amount(),
      since: record(fixed(nothing)),
    }),
  ),
  ...fixed({ departed: [] }),
  epoch: count(),
  blends: count(),
});

/** A state as it came from a file. */
export function checkSharedModelState(
  value: unknown,
  run: Omit<PolicySetup, "devices">,
): SharedModelState {
  const state = shape(value, "");
  checkProgress({ ...state, stopped: state.phase === "stopped", joined: [] }, run);
  const taken = epochsTaken(state.queue);
  if (state.epoch > taken) throw invalid("epoch", state.epoch, `at most ${taken}, by the queue`);
  return state;
}
