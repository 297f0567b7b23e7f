import type { DoneEvent, Policy, PolicyEvent, Transition } from "../contract.js";
import {
  answering,
  checkedDevice,
  checkedSetup,
  infosOf,
  unexpected,
  withDevice,
} from "../common/devices.js";
import {
  conclude,
  epochReports,
  evaluate,
  exhausted,
  isDue,
  newRun,
  requestSave,
  save,
  stop,
} from "../common/run.js";
import type { Every } from "../common/run.js";
import { countRows, epochsTaken, giveBackRows } from "../row-queue.js";
import { andThen } from "../transition.js";
import type {
  Job,
  SharedModelAlgorithm,
  SharedModelDevice,
  SharedModelState,
} from "./algorithm.js";
import {
  give,
  hasMore,
  jobsOf,
  nextFree,
  overwriteCommand,
  pausesAfterRound,
  roundRows,
  rowsTrained,
  stopsForPause,
} from "./hand-out.js";
import { checkSharedModelState, nothing } from "./check-state.js";
import { roundReport } from "./report.js";
import { enter, resumedState } from "./resume.js";

type Step = Transition<SharedModelState>;

/**
 * Devices work on one shared model, first come, first served:
 *
 * ```text
 * whenever a device is free:   give it the next batch
 * when a batch is in w:        u <- u + 1; maybe all pause, to evaluate or save, or at an epoch's end
 * ```
 *
 * A round is so many rows; it is what is reported and what evaluations are counted in. All pause
 * only where the model is evaluated or the algorithm has it so.
 *
 * Rows count as trained once their work is in the model. What a lost device has not been known to
 * finish goes back to the front of the queue; if part of it had got into the model (steps under
 * way, an addition that was not answered), that part stays there and is made again. A device that
 * joins is given work at once. A `finish` lets what is under way land, then evaluates and stops.
 */
export function sharedModelPolicy(algorithm: SharedModelAlgorithm): Policy<SharedModelState> {
  return {
    name: algorithm.name,
    maxBatchRows: algorithm.maxBatchRows,
    models: (devices) => algorithm.models(devices),
    start: (setup) => {
      const empty: SharedModelState = {
        ...newRun(algorithm.settings, setup.rows),
        devices: [],
        departed: [],
        epoch: 0,
        blends: 0,
      };
      const state = checkedSetup(setup).reduce(
        (joined, device) => enter(algorithm, joined, device),
        empty,
      );
      return carryOn(algorithm, state);
    },
    next: (state, event) => (state.phase === "stopped" ? [state, []] : on(algorithm, state, event)),
    resume: (state, devices) => goOn(algorithm, resumedState(algorithm, state, devices)),
    devices: ({ devices }) => infosOf(devices),
    checkState: checkSharedModelState,
  };
}

function on(algorithm: SharedModelAlgorithm, state: SharedModelState, event: PolicyEvent): Step {
  switch (event.type) {
    case "done":
      return onDone(algorithm, state, event);
    case "applied": {
      const found = awaiting(state, event.device, "applied");
      return found === undefined ? [state, []] : landed(algorithm, state, found);
    }
    case "pushed": {
      const found = awaiting(state, event.device, "pushed");
      if (found === undefined) return [state, []];
      const blend = state.blends + 1;
      const next = withJob({ ...state, blends: blend }, found, { awaits: "blended", blend });
      return [next, [overwriteCommand(blend, event.device)]];
    }
    case "blended": {
      const all = [...state.devices, ...state.departed];
      const device = all.find(({ jobs }) => jobs[0]?.blend === event.id);
      if (device === undefined) throw unexpected("blended");
      return landed(algorithm, state, device);
    }
    case "evaluated":
      if (state.phase !== "evaluating" || event.id !== state.evaluated)
        throw unexpected("evaluated");
      return carryOn(algorithm, { ...state, phase: "working" });
    case "checkpointed":
      if (state.phase !== "saving") throw unexpected(event.type);
      return goOn(algorithm, { ...state, phase: "working" });
    case "save":
      return [requestSave(state), []];
    case "lost":
      return onLost(algorithm, state, event.device);
    case "joined":
      return carryOn(
        algorithm,
        enter(algorithm, state, checkedDevice(event.device, state.devices)),
      );
    case "finish":
      return carryOn(algorithm, { ...state, finish: state.finish ?? event.reason });
  }
}

/** Hands out what there is to hand out; pauses when nothing is under way any more. */
function carryOn(algorithm: SharedModelAlgorithm, state: SharedModelState): Step {
  if (state.phase !== "working") return [state, []];
  return andThen(handOut(algorithm, state), (next) => {
    if (jobsOf(next).length === 0) return pause(algorithm, next);
    const isFull = rowsTrained(next) >= roundRows(algorithm, next);
    const pauses = next.saveDue || pausesAfterRound(algorithm, next);
    return isFull && !pauses ? closeRound(next) : reportEpochs(next);
  });
}

function handOut(algorithm: SharedModelAlgorithm, state: SharedModelState): Step {
  let step: Step = [state, []];
  for (;;) {
    const [current] = step;
    if (!hasMore(algorithm, current) || stopsForPause(algorithm, current)) return step;
    const device = nextFree(algorithm, current);
    if (device === undefined) return step;
    step = andThen(step, (next) => give(algorithm, next, device));
  }
}

/** Nothing is under way: ends the round, and evaluates, saves, goes on or stops. */
function pause(algorithm: SharedModelAlgorithm, state: SharedModelState): Step {
  const { settings } = algorithm;
  const reason = state.finish ?? exhausted(state.queue, state.steps, settings.maxSteps);
  if (rowsTrained(state) === 0) {
    if (reason !== null) return conclude(state, reason);
    if (state.saveDue) return save(state, ["global"]);
  }
  return andThen(closeRound(state), (closed) => {
    if (reason !== null) return conclude(closed, reason);
    const epochEnded = closed.epochsDone > state.epochsDone;
    const due = (every: Every) => isDue(every, closed.rounds, epochEnded);
    const saveDue = closed.saveDue || due(settings.checkpointEvery);
    const next = { ...nextEpoch(closed), saveDue };
    return due(settings.evaluateEvery) ? evaluate(next) : carryOn(algorithm, next);
  });
}

/** From a checkpoint. */
function goOn(algorithm: SharedModelAlgorithm, state: SharedModelState): Step {
  return carryOn(algorithm, nextEpoch(state));
}

/** If all have paused at the end of an epoch, u begins again. */
function nextEpoch(state: SharedModelState): SharedModelState {
  const epoch = epochsTaken(state.queue);
  if (epoch === state.epoch) return state;
  return { ...state, epoch, devices: state.devices.map((device) => ({ ...device, credit: 0 })) };
}

/** Reports the round and opens the next one. */
function closeRound(state: SharedModelState): Step {
  const rounds = state.rounds + 1;
  const report = roundReport(state, rounds, epochsTrained(state));
  const begin = (device: SharedModelDevice) => ({ ...device, since: nothing });
  const devices = state.devices.map(begin);
  const departed = state.departed.filter(({ jobs }) => jobs.length > 0).map(begin);
  return andThen(
    [{ ...state, devices, departed, rounds }, [{ type: "report", report }]],
    reportEpochs,
  );
}

/** Reports what epochs have ended. */
function reportEpochs(state: SharedModelState): Step {
  const epochsDone = Math.max(state.epochsDone, epochsTrained(state));
  return [{ ...state, epochsDone }, epochReports(state.epochsDone, epochsDone)];
}

/** Epochs of which every row is in the model. */
function epochsTrained(state: SharedModelState): number {
  const under = jobsOf(state).map(({ rows }) => rows[0]?.epoch ?? 0);
  return Math.min(epochsTaken(state.queue), ...under);
}

function onDone(algorithm: SharedModelAlgorithm, state: SharedModelState, event: DoneEvent): Step {
  const device = awaiting(state, event.device, "done");
  const [job] = device?.jobs ?? [];
  if (device === undefined || job === undefined) return [state, []];
  const awaits = { step: "done", add: "applied", overwrite: "pushed" } as const;
  const next = withJob(state, device, { awaits: awaits[job.way], seconds: event.seconds });
  if (job.way !== "step") return [next, []];
  return landed(algorithm, next, next.devices.find(({ id }) => id === device.id) ?? device);
}

/** The device's first job is in the model. */
function landed(
  algorithm: SharedModelAlgorithm,
  state: SharedModelState,
  device: SharedModelDevice,
): Step {
  const [job, ...jobs] = device.jobs;
  if (job === undefined) return [state, []];
  const { since } = device;
  const { updates } = job;
  const stale = job.way === "step" ? null : (state.steps - job.seen) * updates;
  const change: Partial<SharedModelDevice> = {
    jobs,
    clock: device.clock + 1,
    credit: device.credit + (algorithm.credit?.(device, updates) ?? updates),
    since: {
      rows: since.rows + countRows(job.rows),
      updates: since.updates + updates,
      staleness: stale === null ? since.staleness : (since.staleness ?? 0) + stale,
      seconds: since.seconds + job.seconds,
    },
  };
  return carryOn(algorithm, {
    ...state,
    devices: withDevice(state.devices, device.id, change),
    departed: withDevice(state.departed, device.id, change),
    steps: state.steps + updates,
  });
}

function onLost(algorithm: SharedModelAlgorithm, state: SharedModelState, id: number): Step {
  const lost = state.devices.find((device) => device.id === id);
  if (lost === undefined) return [state, []];
  const devices = state.devices.filter((device) => device !== lost);
  // A blend that is under way is carried on by the others.
  const [kept, gone] = [true, false].map((blending) =>
    lost.jobs.filter(({ blend }) => (blend !== null) === blending),
  );
  const { departed: before } = state;
  const isNews = lost.since.rows > 0 || (kept ?? []).length > 0;
  const departed = isNews ? [...before, { ...lost, jobs: kept ?? [] }] : before;
  const next = { ...state, devices, departed };
  if (devices.length === 0) {
    const left = giveBack({ ...next, departed: departed.map(idle) }, jobsOf(state));
    return andThen(rowsTrained(left) > 0 ? closeRound(left) : [left, []], (end) =>
      stop({ ...end, departed: [] }, "devices"),
    );
  }
  return carryOn(algorithm, giveBack(next, gone ?? []));
}

function giveBack(state: SharedModelState, jobs: readonly Job[]): SharedModelState {
  const rows = jobs.flatMap((job) => job.rows);
  return { ...state, queue: giveBackRows(state.queue, rows) };
}

function idle(device: SharedModelDevice): SharedModelDevice {
  return { ...device, jobs: [] };
}

function awaiting(
  { devices }: SharedModelState,
  id: number,
  awaits: Job["awaits"],
): SharedModelDevice | undefined {
  return answering(devices, id, ({ jobs }) => jobs[0]?.awaits === awaits, awaits);
}

/** The state with the device's first job changed. */
function withJob(
  state: SharedModelState,
  { id, jobs: [first, ...rest] }: SharedModelDevice,
  change: Partial<Job>,
): SharedModelState {
  const jobs = first === undefined ? rest : [{ ...first, ...change }, ...rest];
  return { ...state, devices: withDevice(state.devices, id, { jobs }) };
}
