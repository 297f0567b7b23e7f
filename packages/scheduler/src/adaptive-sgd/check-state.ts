import type { PolicySetup } from "../contract.js";
import {
  checkProgress,
  finishShape,
  infoFields,
  joinedShape,
  queueShape,
} from "../common/run-shape.js";
import {
  amount,
  count,
  fixed,
  flag,
  invalid,
  list,
  nullable,
  oneOf,
  record,
} from "../common/shape.js";
import { fixedRows } from "../step-cost.js";
import type { StepTimes } from "../step-cost.js";
import { idle } from "./state.js";
import type { AdaptiveSgdDevice, AdaptiveSgdState } from "./state.js";

interface RestingPhase {
  readonly name: "saving" | "stopped";
}

const shape = record<AdaptiveSgdState>({
  phase: record<RestingPhase>({ name: oneOf("saving", "stopped") }),
  queue: queueShape,
  parameters: count(),
  devices: list(
    record<AdaptiveSgdDevice>({
      ...infoFields,
      ...fixed(idle),
      batchRows: amount(1),
      batchSeconds: nullable(amount()),
      times: record<StepTimes>({
        steps: amount(),
        rows: amount(),
        seconds: amount(),
        squares: amount(),
        products: amount(),
        before: amount(),
      }),
    }),
  ),
  joined: joinedShape,
  target: count(),
  warmingUp: flag,
  merges: count(),
  steps: count(),
  epochsDone: count(),
  evaluated: nullable(count()),
  ...fixed({ saveDue: false }),
  finish: finishShape,
});

/** A state as it came from a file. */
export function checkAdaptiveSgdState(
  value: unknown,
  run: Omit<PolicySetup, "devices">,
): AdaptiveSgdState {
  const state = shape(value, "");
  checkProgress({ ...state, stopped: state.phase.name === "stopped" }, run);
  if (state.parameters !== run.parameters) {
    throw invalid("parameters", state.parameters, `the model's ${run.parameters}`);
  }
  for (const { id, times } of state.devices) {
    if (!Number.isFinite(fixedRows(times))) {
      throw invalid(`times of device ${id}`, times, "sums over its steps");
    }
  }
  return state;
}
