import type {
  BlendedEvent,
  LostEvent,
  Policy,
  PolicyEvent,
  StopReason,
  Transition,
} from "../contract.js";
import { boundsFor, clamp } from "../batch-size.js";
import { answering, checkedDevice, infosOf, unexpected } from "../common/devices.js";
import { sum } from "../common/numbers.js";
import { exhausted, isDue } from "../common/run.js";
import type { Every } from "../common/run.js";
import { countRows, rowsLeft } from "../row-queue.js";
import { withStep } from "../step-cost.js";
import { andThen } from "../transition.js";
import { checkAdaptiveSgdState } from "./check-state.js";
import { allIn, deal, giveBackAll, handOut, withdraw } from "./hand-out.js";
import { completeMerge, startMerge } from "./merge.js";
import { resolveOptions } from "./options.js";
import type { AdaptiveSgdOptions, Settings } from "./options.js";
import { resumedState, savedModels } from "./resume.js";
import { atRest, freshDevice, initialState, withChanged } from "./state.js";
import type { AdaptiveSgdDevice, AdaptiveSgdState } from "./state.js";

type Step = Transition<AdaptiveSgdState>;

/**
 * Adaptive SGD: free devices take the next batch, replicas are merged after every mega-batch with
 * weights by their updates, and batch sizes move until all make equally many, as far as a smaller
 * batch makes a device's steps shorter.
 *
 * ```text
 * round:    w_i <- w̄, u_i <- 0; hand out
 * on done:  hand out: while fewer than M rows are given: a batch of b_i rows to whoever has room
 *                     then everybody pushes
 * all in:   scale b_i; w' <- Σ p_i w_i + γ (w̄ − w̄⁻); w̄⁻ <- w̄; w̄ <- w'; maybe evaluate, save; next round
 * ```
 *
 * The last mega-batch of a run has between 0.5 and 1.5 times M rows, so that no few rows are left
 * over.
 *
 * Queue depth: two batches a device, up to four of short ones while a mega-batch is long, one near
 * its end. While it evaluates, nothing else is asked for. After the last epoch, the last step or a `finish` event it merges what is
 * trained, evaluates and stops.
 *
 * A device lost before the blend is asked for takes all rows it got since the last merge back to
 * the front of the queue. Once it is asked for, its pushed replica counts like any other (a pushed
 * replica stays readable), so nothing is lost or doubled either way. A device that joins takes part
 * from the next mega-batch on, with the others' mean batch size. When no device is left, the run
 * stops with the last merged model.
 *
 * Source: paper A (arXiv 2110.07029), Adaptive SGD; queue depth, the last mega-batch, failures and
 * joining are ours.
 *
 * @throws {@link SchedulerError} `INVALID_OPTION`; `start`: `INVALID_SETUP`; `next`:
 * `UNEXPECTED_EVENT`, and `INVALID_SETUP` if a joining device can't be taken.
 */
export function adaptiveSgd(options: AdaptiveSgdOptions): Policy<AdaptiveSgdState> {
  const settings = resolveOptions(options);
  return {
    name: "adaptive-sgd",
    maxBatchRows: settings.bounds.max,
    models: (devices) => [
      "global",
      "next",
      ...(settings.merge.momentum > 0 ? (["previous"] as const) : []),
      ...devices.map(({ id }) => `replica:${id}` as const),
    ],
    start: (setup) => beginRound(settings, initialState(settings, setup)),
    next: (state, event) =>
      state.phase.name === "stopped" ? [state, []] : on(settings, state, event),
    resume: (state, devices) => beginRound(settings, resumedState(settings, state, devices)),
    devices: ({ devices, joined }) => infosOf([...devices, ...joined]),
    checkState: checkAdaptiveSgdState,
  };
}

function on(settings: Settings, state: AdaptiveSgdState, event: PolicyEvent): Step {
  switch (event.type) {
    case "done": {
      const device = answering(state.devices, event.device, (it) => it.outstanding > 0, "done");
      if (device === undefined) return [state, []];
      return carryOn(
        settings,
        withChanged(state, device.id, {
          outstanding: device.outstanding - 1,
          batchSeconds: event.seconds,
          times: withStep(device.times, countRows(event.rows), event.seconds),
        }),
      );
    }
    case "pushed": {
      const device = answering(state.devices, event.device, (it) => it.pushes > 0, "pushed");
      if (device === undefined) return [state, []];
      const { norm } = event;
      return carryOn(settings, withChanged(state, device.id, { pushes: device.pushes - 1, norm }));
    }
    case "blended":
      return onBlended(settings, state, event);
    case "evaluated":
      if (state.phase.name !== "evaluating" || event.id !== state.merges) {
        throw unexpected(event.type);
      }
      return beginRound(settings, state);
    case "checkpointed":
      if (state.phase.name !== "saving") throw unexpected(event.type);
      return beginRound(settings, state);
    case "save":
      return [state.phase.name === "saving" ? state : { ...state, saveDue: true }, []];
    case "lost":
      return onLost(settings, state, event);
    case "joined": {
      const present = [...state.devices, ...state.joined];
      const joined = [...state.joined, checkedDevice(event.device, present)];
      return [{ ...state, joined }, []];
    }
    case "finish":
      return carryOn(settings, withdraw({ ...state, finish: state.finish ?? event.reason }));
    case "applied":
      throw unexpected(event.type);
  }
}

/** A mega-batch, unless the run is over; a checkpoint before it if one is due. */
function beginRound(settings: Settings, state: AdaptiveSgdState): Step {
  const reason = state.finish ?? exhausted(state.queue, state.steps, settings.maxSteps);
  if (reason !== null) return conclude(settings, state, reason);
  if (state.saveDue) return save(settings, state);
  const devices = enter(settings, state);
  if (devices.length === 0) return stop(settings, state, "devices");
  const { rows, epoch, position } = state.queue;
  const { megaBatchRows, bounds, warmupEpochs } = settings;
  const megaBatch = megaBatchRows ?? Math.min(100 * bounds.max, Math.ceil(rows / 4));
  const warmupLeft = Math.ceil(warmupEpochs * rows) - (epoch * rows + position);
  const warmingUp = warmupLeft > 0;
  const left = rowsLeft(state.queue);
  const target = warmingUp
    ? Math.min(megaBatch, warmupLeft)
    : // A last mega-batch of a few batches would not give every device one: it joins the one before.
      left < 1.5 * megaBatch
      ? left
      : megaBatch;
  const round: AdaptiveSgdState = {
    ...state,
    phase: { name: "training" },
    devices,
    joined: [],
    target,
    warmingUp,
  };
  const pulls = devices.map(({ id }) => ({ type: "pull", device: id }) as const);
  return andThen([round, pulls], (next) => carryOn(settings, next));
}

/** Goes on with the mega-batch: hands out what there is to hand out, and merges when all is in. */
function carryOn(settings: Settings, state: AdaptiveSgdState): Step {
  if (state.phase.name !== "training") return [state, []];
  const dealt = settings.dynamicDispatch ? state : deal(settings, state);
  return andThen(handOut(settings, dealt), (next) => {
    if (!allIn(next)) return [next, []];
    const trained = sum(next.devices, (device) => device.updates) > 0;
    return trained ? startMerge(settings, next) : beginRound(settings, next);
  });
}

function onBlended(settings: Settings, state: AdaptiveSgdState, { id }: BlendedEvent): Step {
  if (state.phase.name !== "merging" || state.phase.report.merge !== id) {
    throw unexpected("blended");
  }
  return andThen(completeMerge(settings, state, state.phase.report), (merged) => {
    const epochEnded = merged.epochsDone > state.epochsDone;
    const due = (every: Every) => isDue(every, merged.merges, epochEnded);
    const next = { ...merged, saveDue: merged.saveDue || due(settings.checkpointEvery) };
    return due(settings.evaluateEvery) ? evaluate(next) : beginRound(settings, next);
  });
}

function onLost(settings: Settings, state: AdaptiveSgdState, { device: id }: LostEvent): Step {
  const left: AdaptiveSgdState = {
    ...state,
    joined: state.joined.filter((device) => device.id !== id),
  };
  const others = left.devices.filter((device) => device.id !== id);
  const nobody = left.joined.length === 0 && others.every((device) => device.lost);
  if (state.phase.name === "merging") {
    const next = withChanged(left, id, { lost: true });
    return nobody ? stop(settings, giveBackAll(next, next.devices), "devices") : [next, []];
  }
  const lost = left.devices.filter((device) => device.id === id);
  const next = { ...giveBackAll(left, lost), devices: others };
  return nobody ? stop(settings, next, "devices") : carryOn(settings, next);
}

/** The devices of the next mega-batch. Those that joined start with the others' mean batch size. */
function enter(settings: Settings, state: AdaptiveSgdState): readonly AdaptiveSgdDevice[] {
  const { devices, joined } = state;
  const start =
    devices.length === 0
      ? settings.bounds.max
      : sum(devices, (device) => device.batchRows) / devices.length;
  const entering = joined.map((device) =>
    freshDevice(device, clamp(start, boundsFor(settings.bounds, device.maxBatchRows))),
  );
  return [...devices, ...entering];
}

function evaluate(state: AdaptiveSgdState): Step {
  const { merges } = state;
  return [
    { ...state, phase: { name: "evaluating" }, evaluated: merges },
    [{ type: "evaluate", id: merges }],
  ];
}

/** The end: evaluates the model unless that was done already, then stops. */
function conclude(settings: Settings, state: AdaptiveSgdState, reason: StopReason): Step {
  return state.evaluated === state.merges ? stop(settings, state, reason) : evaluate(state);
}

function save(settings: Settings, state: AdaptiveSgdState): Step {
  return [
    { ...atRest(state), phase: { name: "saving" }, saveDue: false },
    [{ type: "checkpoint", models: savedModels(settings) }],
  ];
}

function stop(settings: Settings, state: AdaptiveSgdState, reason: StopReason): Step {
  return [
    { ...atRest(state), phase: { name: "stopped" }, saveDue: false, finish: reason },
    [{ type: "stop", reason, models: savedModels(settings) }],
  ];
}
