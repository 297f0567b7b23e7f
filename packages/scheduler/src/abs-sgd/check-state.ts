import type { PolicySetup } from "../contract.js";
import {
  checkProgress,
  infoFields,
  joinedShape,
  rowsShape,
  runFields,
} from "../common/run-shape.js";
import { amount, count, fixed, invalid, list, oneOf, record } from "../common/shape.js";
import { countRows } from "../row-queue.js";
import type { AbsSgdDevice, AbsSgdState, Accumulator } from "./state.js";

/** What it is where nobody is at work and no reduction is under way: a run can be resumed there. */
export const idle = {
  state: { reducing: null, pausing: null },
  device: { working: [], freezing: 0, frozen: null, pushes: 0, lost: false },
} as const;

const shape = record<AbsSgdState>({
  ...runFields,
  devices: list(
    record<AbsSgdDevice>({
      ...infoFields,
      ...fixed(idle.device),
      filling: oneOf<0 | 1>(0, 1),
      filled: record<Accumulator>({
        rows: rowsShape,
        microBatches: count(),
        at: count(-1),
        seconds: amount(),
      }),
    }),
  ),
  joined: joinedShape,
  ...fixed(idle.state),
  trained: count(),
  learningRate: amount(),
});

/** A state as it came from a file. */
export function checkAbsSgdState(value: unknown, run: Omit<PolicySetup, "devices">): AbsSgdState {
  const state = shape(value, "");
  const { queue, devices } = state;
  const pending = devices.flatMap(({ filled }) => filled.rows);
  checkProgress({ ...state, stopped: state.phase === "stopped", pending }, run);
  const out = countRows([...queue.returned, ...pending]);
  const trained = queue.epoch * queue.rows + queue.position - out;
  if (state.trained !== trained)
    throw invalid("trained", state.trained, `${trained}, by the queue`);
  for (const { id, filled } of devices) {
    if (filled.at >= state.rounds) throw invalid(`at of device ${id}`, filled.at, "a past round");
    if (filled.microBatches > 0 !== filled.rows.length > 0) {
      throw invalid(`microBatches of device ${id}`, filled.microBatches, "as its rows have it");
    }
  }
  return state;
}
