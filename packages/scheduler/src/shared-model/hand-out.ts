/** Which device gets how many rows, and when. */
import type { Command, ModelName, RowRange, Transition } from "../contract.js";
import { withDevice } from "../common/devices.js";
import { sum } from "../common/numbers.js";
import { isDue } from "../common/run.js";
import { learningRateOf } from "../learning-rate.js";
import { countRows, epochsTaken, rowsLeft, rowsLeftInEpoch, takeRows } from "../row-queue.js";
import type {
  Job,
  Order,
  SharedModelAlgorithm,
  SharedModelDevice,
  SharedModelState,
} from "./algorithm.js";

type Step = Transition<SharedModelState>;

/** Whether anything may be handed out at all. */
export function hasMore(algorithm: SharedModelAlgorithm, state: SharedModelState): boolean {
  return state.finish === null && updatesLeft(algorithm, state) > 0 && rowsLeft(state.queue) > 0;
}

/** Whether nothing is handed out until all have paused: to evaluate or save, or at an epoch's end. */
export function stopsForPause(algorithm: SharedModelAlgorithm, state: SharedModelState): boolean {
  const { settings, epochBarrier } = algorithm;
  const epochOver = epochsTaken(state.queue) > state.epoch;
  const pausesAtEpochs =
    epochBarrier || settings.evaluateEvery === "epoch" || settings.checkpointEvery === "epoch";
  if (state.saveDue || (epochOver && pausesAtEpochs)) return true;
  const given = rowsTrained(state) + sum(jobsOf(state), ({ rows }) => countRows(rows));
  return pausesAfterRound(algorithm, state) && given >= roundRows(algorithm, state);
}

/** Whether the model is evaluated or saved after this round. */
export function pausesAfterRound(
  { settings }: SharedModelAlgorithm,
  { rounds }: SharedModelState,
): boolean {
  const { evaluateEvery, checkpointEvery } = settings;
  return [evaluateEvery, checkpointEvery].some((every) => isDue(every, rounds + 1, false));
}

/** Rows of a round; one that all wait for at its end has work for everybody. */
export function roundRows(
  algorithm: SharedModelAlgorithm,
  { queue, devices }: SharedModelState,
): number {
  const oneEach = sum(devices, (device) => algorithm.order(device).rows);
  return algorithm.roundRows ?? Math.max(Math.ceil(queue.rows / 4), oneEach);
}

/** Rows that have got into the model since the last report. */
export function rowsTrained({ devices, departed }: SharedModelState): number {
  return sum([...devices, ...departed], ({ since }) => since.rows);
}

/** Updates that may still be handed out in this run. */
function updatesLeft({ settings }: SharedModelAlgorithm, state: SharedModelState): number {
  return settings.maxSteps - state.steps - sum(jobsOf(state), ({ updates }) => updates);
}

/** All work that is under way. */
export function jobsOf({ devices, departed }: SharedModelState): readonly Job[] {
  return [...devices, ...departed].flatMap((device) => device.jobs);
}

/** The free device with the fewest jobs, the first of several. */
export function nextFree(
  algorithm: SharedModelAlgorithm,
  { devices, queue }: SharedModelState,
): SharedModelDevice | undefined {
  // Near the end of an epoch no device sits on two while others have nothing to do.
  const near = rowsLeftInEpoch(queue) < sum(devices, (device) => algorithm.order(device).rows);
  const depth = near ? 1 : algorithm.queueDepth;
  let best: SharedModelDevice | undefined;
  for (const device of devices) {
    if (device.jobs.length >= Math.min(depth, best?.jobs.length ?? depth)) continue;
    if (algorithm.waits?.(device, devices) !== true) best = device;
  }
  return best;
}

/** Gives the device its next job. */
export function give(
  algorithm: SharedModelAlgorithm,
  state: SharedModelState,
  asking: SharedModelDevice,
): Step {
  const { settings } = algorithm;
  const others = state.devices.filter(({ id }) => id !== asking.id);
  const batchRows = algorithm.resize?.(asking, others, state.queue.rows) ?? asking.batchRows;
  const device = { ...asking, batchRows };
  const order = algorithm.order(device);
  const [queue, rows] = takeRows(state.queue, rowsWithin(order, updatesLeft(algorithm, state)));
  const learningRate = learningRateOf(settings, state.queue.rows, rows);
  const job: Job = {
    way: order.way,
    rows,
    updates: updatesOf(order, countRows(rows)),
    seen: state.steps,
    awaits: "done",
    blend: null,
    seconds: 0,
  };
  const devices = withDevice(state.devices, device.id, {
    batchRows,
    learningRate,
    jobs: [...device.jobs, job],
  });
  return [{ ...state, queue, devices }, commandsFor(device.id, order, rows, learningRate)];
}

/** What puts a copy that has been trained in the model's place. */
export function overwriteCommand(id: number, device: number): Command {
  const terms = [{ model: `replica:${device}` as const, coefficient: 1 }];
  return { type: "blend", id, target: "global", terms, stateTerms: terms };
}

function commandsFor(
  device: number,
  { way, microBatchRows, meanOver }: Order,
  rows: readonly RowRange[],
  learningRate: number,
): readonly Command[] {
  const replica: ModelName = `replica:${device}`;
  const pull: Command = { type: "pull", device };
  switch (way) {
    case "step": {
      const step: Command = { type: "step", device, rows, learningRate, model: "global" };
      return [microBatchRows === undefined ? step : { ...step, microBatchRows }];
    }
    case "add": {
      const into: ModelName = `gradient:${device}:0`;
      const scale = -learningRate / (meanOver ?? countRows(rows));
      return [
        pull,
        { type: "accumulate", device, rows, model: replica, into, reset: true },
        { type: "apply", device, source: into, target: "global", scale },
      ];
    }
    case "overwrite":
      return [
        pull,
        { type: "step", device, rows, learningRate, model: replica },
        { type: "push", device, norm: false },
      ];
  }
}

/** The order's rows, or as many as so many updates take. */
function rowsWithin({ rows, microBatchRows = Infinity }: Order, updates: number): number {
  return Math.min(rows, microBatchRows * updates);
}

function updatesOf({ microBatchRows = Infinity }: Order, rows: number): number {
  return Math.ceil(rows / Math.min(rows, microBatchRows));
}
