import type {
  BlendedEvent,
  DoneEvent,
  Policy,
  PolicyEvent,
  RowRange,
  StopReason,
  Transition,
} from "../contract.js";
import {
  answering,
  checkedDevice,
  checkedSetup,
  infosOf,
  unexpected,
  withDevice,
} from "../common/devices.js";
import type { CheckedDevice } from "../common/devices.js";
import {
  conclude,
  evaluate,
  exhausted,
  isDue,
  newRun,
  requestSave,
  save,
  stop,
} from "../common/run.js";
import type { Every } from "../common/run.js";
import { andThen } from "../transition.js";
import { checkAbsSgdState, idle } from "./check-state.js";
import { resolve } from "./options.js";
import type { AbsSgdOptions, Settings } from "./options.js";
import { completeReduction, startReduction } from "./reduce.js";
import { resumedState, savedModels } from "./resume.js";
import { allRows, emptyAccumulator, giveBack, rowsPending } from "./state.js";
import type { AbsSgdDevice, AbsSgdState, Accumulator } from "./state.js";
import { allFrozen, allIdle, pushSums, workOn } from "./work.js";

type Step = Transition<AbsSgdState>;

/**
 * ABS-SGD: devices synchronise delayed gradients, and go on computing while they do; the batch of a
 * fast device simply gets larger.
 *
 * ```text
 * at each border of micro-batches:  if round t waits for i:  S_i <- G_i;  G_i <- 0;  w_i <- w_t
 *                                   G_i += Σ∇ℓ(w_i; q rows)
 * all S_i in:                       w_{t+1} <- w_t − η_t·ΣS/Σc, while devices go on;  t <- t + 1
 * ```
 *
 * S was computed at w_{t−1}, but for the first update, which has nothing before it. Weights are by
 * rows. All pause, with their sums kept, while the model is evaluated or saved. At the end of the rows, the
 * last step or a `finish` the micro-batches in flight are completed and all sums reduced, in at
 * most two more rounds; if the `finish` comes while the model is evaluated, the run ends with that
 * very model, and the sums' rows go back to the queue.
 *
 * A device lost before the reduction is asked for takes all rows back that are not in the model.
 * Once it is asked for, its frozen sum counts, and only what it computed since goes back. A device
 * that joins begins between two reductions and takes part from the next one on, so that its
 * gradients are one update old as well. Needs plain SGD.
 *
 * Queue depth: one micro-batch of each sum, so that the next border is near: what is to be done at a
 * border is said before the device comes to it, and it goes on with the next sum at once. Within a
 * sum it waits for a message after each micro-batch, so where a micro-batch takes no longer than a
 * message, a larger one is better. A round is one update of the global model, a step one micro-batch.
 *
 * Source: paper B (arXiv 2308.15164); micro-batches, the options, the end of the run, failures and
 * joining are ours.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function absSgd(options: AbsSgdOptions): Policy<AbsSgdState> {
  const settings = resolve(options);
  return {
    name: "abs-sgd",
    maxBatchRows: settings.microBatch,
    models: (devices) => [
      "global",
      "next",
      ...(settings.momentum > 0 ? (["previous"] as const) : []),
      ...devices.flatMap(
        ({ id }) => [`replica:${id}`, `gradient:${id}:0`, `gradient:${id}:1`] as const,
      ),
    ],
    start: (setup) =>
      carryOn(settings, {
        ...newRun(settings, setup.rows),
        devices: [],
        joined: checkedSetup(setup),
        reducing: null,
        pausing: null,
        trained: 0,
        learningRate: 0,
      }),
    next: (state, event) => (state.phase === "stopped" ? [state, []] : on(settings, state, event)),
    resume: (state, devices) => carryOn(settings, resumedState(settings, state, devices)),
    devices: ({ devices, joined }) => infosOf([...devices, ...joined]),
    checkState: checkAbsSgdState,
  };
}

function on(settings: Settings, state: AbsSgdState, event: PolicyEvent): Step {
  switch (event.type) {
    case "done":
      return onDone(settings, state, event);
    case "pushed": {
      const device = answering(state.devices, event.device, ({ pushes }) => pushes > 0, "pushed");
      if (device === undefined) return [state, []];
      const change = { pushes: device.pushes - 1 };
      return carryOn(settings, withChanged(state, device.id, change));
    }
    case "blended":
      return onBlended(settings, state, event);
    case "evaluated":
      if (state.phase !== "evaluating" || event.id !== state.evaluated)
        throw unexpected("evaluated");
      return state.finish === null
        ? carryOn(settings, { ...state, phase: "working", pausing: state.saveDue ? "save" : null })
        : end(settings, state, state.finish);
    case "checkpointed":
      if (state.phase !== "saving") throw unexpected(event.type);
      return carryOn(settings, { ...state, phase: "working" });
    case "save":
      return [requestSave(state), []];
    case "lost":
      return onLost(settings, state, event.device);
    case "joined": {
      const device = checkedDevice(event.device, [...state.devices, ...state.joined]);
      return carryOn(settings, { ...state, joined: [...state.joined, device] });
    }
    case "finish":
      return carryOn(settings, {
        ...state,
        finish: state.finish ?? event.reason,
        pausing: null,
      });
    case "applied":
      throw unexpected(event.type);
  }
}

/** Has devices work; reduces when all have frozen; evaluates, saves or ends when all are idle. */
function carryOn(settings: Settings, state: AbsSgdState): Step {
  if (state.phase !== "working") return [state, []];
  return andThen(workOn(settings, enter(state)), (next) => {
    if (next.reducing !== null) return [next, []];
    if (next.pausing !== null) return allIdle(next) ? onPause(settings, next) : [next, []];
    if (!allFrozen(next)) return [next, []];
    if (next.devices.some(({ frozen }) => (frozen?.microBatches ?? 0) > 0)) {
      return startReduction(settings, next);
    }
    // Those whose sums were waited for are lost: the others begin the round anew.
    if (next.devices.some(({ frozen }) => frozen !== null)) {
      const devices = next.devices.map((device) => ({ ...device, frozen: null }));
      return carryOn(settings, { ...next, devices });
    }
    const reason = next.finish ?? exhausted(next.queue, next.steps, settings.maxSteps);
    return reason === null ? [next, []] : conclude(next, reason, savedModels(settings, next));
  });
}

/** Nobody is at work: does what the pause is for. */
function onPause(settings: Settings, state: AbsSgdState): Step {
  switch (state.pausing) {
    case "evaluate":
      return evaluate({ ...state, pausing: null });
    case "save":
      return andThen(pushSums(state), (next) => carryOn(settings, next));
    default:
      return save({ ...state, pausing: null }, savedModels(settings, state));
  }
}

function onDone(settings: Settings, state: AbsSgdState, event: DoneEvent): Step {
  const owes = ({ working }: AbsSgdDevice) => working.length > 0;
  const device = answering(state.devices, event.device, owes, "done");
  if (device === undefined) return [state, []];
  const { filled, frozen, freezing } = device;
  const [rows = [], ...working] = device.working;
  const change =
    frozen !== null && freezing > 0
      ? { freezing: freezing - 1, frozen: withMicroBatch(frozen, rows, event) }
      : { filled: withMicroBatch(filled, rows, event) };
  return carryOn(settings, withChanged(state, device.id, { working, ...change }));
}

function withMicroBatch(
  sum: Accumulator,
  rows: readonly RowRange[],
  { seconds }: DoneEvent,
): Accumulator {
  return {
    ...sum,
    rows: [...sum.rows, ...rows],
    microBatches: sum.microBatches + 1,
    seconds: sum.seconds + seconds,
  };
}

function onBlended(settings: Settings, state: AbsSgdState, { id }: BlendedEvent): Step {
  const { reducing } = state;
  if (reducing === null || reducing.round !== id) throw unexpected("blended");
  return andThen(completeReduction(settings, state, reducing), (next) => {
    const epochEnded = next.epochsDone > state.epochsDone;
    const due = (every: Every) => isDue(every, next.rounds, epochEnded);
    const saveDue = next.saveDue || due(settings.checkpointEvery);
    const wanted = due(settings.evaluateEvery) ? "evaluate" : saveDue ? "save" : null;
    return carryOn(settings, { ...next, saveDue, pausing: next.finish === null ? wanted : null });
  });
}

function onLost(settings: Settings, state: AbsSgdState, id: number): Step {
  const joined = state.joined.filter((device) => device.id !== id);
  const left = { ...state, joined };
  const lost = state.devices.filter((device) => device.id === id && !device.lost);
  const reduced = state.reducing !== null && lost.some(({ frozen }) => frozen !== null);
  const gone: Partial<AbsSgdDevice> = { lost: true, filled: emptyAccumulator, working: [] };
  const next = reduced
    ? withChanged(giveBack(left, lost, rowsPending), id, gone)
    : {
        ...giveBack(left, lost, allRows),
        devices: state.devices.filter((device) => device.id !== id || device.lost),
      };
  const nobody = joined.length === 0 && next.devices.every((device) => device.lost);
  return nobody ? end(settings, next, "devices") : carryOn(settings, next);
}

/** Stops; what is not in the model goes back. */
function end(settings: Settings, state: AbsSgdState, reason: StopReason): Step {
  const left = state.devices.filter(({ lost }) => !lost);
  const last: AbsSgdState = {
    ...giveBack(state, state.devices, allRows),
    ...idle.state,
    devices: left.map((device) => ({ ...device, ...idle.device, filled: emptyAccumulator })),
  };
  return stop(last, reason, savedModels(settings, last));
}

/** Takes in those that have joined, unless a reduction is under way or the model evaluated. */
function enter(state: AbsSgdState): AbsSgdState {
  if (state.reducing !== null || state.pausing !== null || state.joined.length === 0) return state;
  return { ...state, devices: [...state.devices, ...state.joined.map(freshDevice)], joined: [] };
}

function freshDevice(device: CheckedDevice): AbsSgdDevice {
  return {
    ...device,
    ...idle.device,
    filling: 0,
    filled: emptyAccumulator,
  };
}

function withChanged(state: AbsSgdState, id: number, change: Partial<AbsSgdDevice>): AbsSgdState {
  return { ...state, devices: withDevice(state.devices, id, change) };
}
