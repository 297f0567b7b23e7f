import type { PolicySetup } from "../contract.js";
import { checkProgress, infoFields, joinedShape, runFields } from "../common/run-shape.js";
import { amount, count, fixed, flag, list, nullable, record } from "../common/shape.js";
import type { RoundDevice, RoundState } from "./algorithm.js";

/** What it is between two rounds, where a run can be resumed. */
export const idle = {
  state: { stages: [], blending: [], report: null },
  device: {
    pulled: false,
    share: [],
    rows: [],
    updates: 0,
    outstanding: 0,
    seconds: 0,
    pushing: false,
    pushes: 0,
    lost: false,
  },
} as const;

const shape = record<RoundState>({
  ...runFields,
  devices: list(
    record<RoundDevice>({
      ...infoFields,
      ...fixed(idle.device),
      ...fixed({ fresh: false }),
      batchRows: count(1),
      pace: nullable(amount(1e-100)),
      learningRate: amount(),
    }),
  ),
  joined: joinedShape,
  learningRate: amount(),
  fullRows: count(),
  restarted: flag,
  ...fixed(idle.state),
  blends: count(),
  drained: flag,
});

/** A state as it came from a file. */
export function checkRoundState(value: unknown, run: Omit<PolicySetup, "devices">): RoundState {
  const state = shape(value, "");
  checkProgress({ ...state, stopped: state.phase === "stopped" }, run);
  return state;
}
