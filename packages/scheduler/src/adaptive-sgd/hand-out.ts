/**
 * Which device gets how many rows, and when. Two batches may be outstanding at a device, so that it
 * need not wait for the coordinator, and up to four where they are short, so that it and the
 * coordinator need not wake each other for every one; only one when the mega-batch nears its end, so
 * that no slow device sits on two while the others have nothing to do.
 */
import { sum } from "../common/numbers.js";
import type { Command, RowRange, Transition } from "../contract.js";
import { learningRateOf } from "../learning-rate.js";
import { countRows, giveBackRows, rowsLeft, takeRows } from "../row-queue.js";
import type { Settings } from "./options.js";
import { batchRowsOf, rowsGiven, rowsOf, withChanged } from "./state.js";
import type { AdaptiveSgdDevice, AdaptiveSgdState } from "./state.js";

/** Most batches that may be outstanding at a device. */
const DEEPEST = 4;
/** More than two of them take a device no longer than so many seconds. */
const DEEP_SECONDS = 0.1;

/** Gives batches to whoever has room for one; whoever gets no more in this mega-batch pushes. */
export function handOut(settings: Settings, state: AdaptiveSgdState): Transition<AdaptiveSgdState> {
  const commands: Command[] = [];
  let current = state;
  let left = rowsToGive(settings, current);
  for (;;) {
    const device = nextFree(settings, current, left);
    if (device === undefined) break;
    const [next, command] = step(settings, current, device);
    current = next;
    commands.push(command);
    left = rowsToGive(settings, current);
  }
  for (const device of current.devices) {
    if (device.pushing || hasMore(settings, device, left)) continue;
    commands.push({ type: "push", device: device.id, norm: settings.merge.needsNorm });
    current = withChanged(current, device.id, { pushing: true, pushes: device.pushes + 1 });
  }
  return [current, commands];
}

/** Whether every device has trained and pushed all that it was given. */
export function allIn(state: AdaptiveSgdState): boolean {
  return state.devices.every(
    ({ outstanding, pushing, pushes }) => outstanding === 0 && pushing && pushes === 0,
  );
}

/**
 * Static dispatch: deals the rest of the mega-batch to the devices in turn, the same number to
 * each.
 */
export function deal(settings: Settings, state: AdaptiveSgdState): AdaptiveSgdState {
  let current = state;
  while (current.devices.length > 0 && rowsToGive(settings, current) > 0) {
    for (const { id } of state.devices) {
      const device = current.devices.find((candidate) => candidate.id === id);
      if (device === undefined || stepsToGive(settings, current) === 0) break;
      const [queue, rows] = takeRows(current.queue, batchRowsOf(settings, current, device));
      if (rows.length === 0) break;
      current = withChanged({ ...current, queue }, id, { share: [...device.share, rows] });
    }
  }
  return current;
}

/** Takes back what was dealt, but not yet given. */
export function withdraw(state: AdaptiveSgdState): AdaptiveSgdState {
  const dealt = state.devices.flatMap((device) => device.share.flat());
  const devices = state.devices.map((device) => ({ ...device, share: [] }));
  return { ...state, queue: giveBackRows(state.queue, dealt), devices };
}

/** Takes all back that the devices were given or dealt since the previous merge. */
export function giveBackAll(
  state: AdaptiveSgdState,
  devices: readonly AdaptiveSgdDevice[],
): AdaptiveSgdState {
  return { ...state, queue: giveBackRows(state.queue, devices.flatMap(rowsOf)) };
}

/** The free device with the fewest batches outstanding, the first of several. */
function nextFree(
  settings: Settings,
  state: AdaptiveSgdState,
  left: number,
): AdaptiveSgdDevice | undefined {
  const most = queueDepth(settings, state, left);
  let best: AdaptiveSgdDevice | undefined;
  for (const device of state.devices) {
    const depth = Math.min(most, deepest(device));
    if (device.outstanding >= Math.min(depth, best?.outstanding ?? depth)) continue;
    if (hasMore(settings, device, left)) best = device;
  }
  return best;
}

/** Batches that may be outstanding at a device, going by how long it takes for one. */
function deepest({ batchSeconds }: AdaptiveSgdDevice): number {
  if (batchSeconds === null) return 2;
  return Math.max(2, Math.min(DEEPEST, Math.floor(DEEP_SECONDS / batchSeconds)));
}

/**
 * Batches that may be outstanding at any device: no more than two unless what is left can give each
 * twice as many, and one once it can't give each a full batch.
 */
function queueDepth(settings: Settings, state: AdaptiveSgdState, left: number): number {
  if (!settings.dynamicDispatch) return 2;
  const oneEach = sum(state.devices, (device) => batchRowsOf(settings, state, device));
  const near = left < oneEach || stepsToGive(settings, state) < state.devices.length;
  return near ? 1 : Math.max(2, Math.floor(left / (2 * oneEach)));
}

/** Whether the device may get another batch in this mega-batch, of which `left` rows are left. */
function hasMore(settings: Settings, device: AdaptiveSgdDevice, left: number): boolean {
  return settings.dynamicDispatch ? left > 0 : device.share.length > 0;
}

/** Rows that may still be handed out in this mega-batch. */
function rowsToGive(settings: Settings, state: AdaptiveSgdState): number {
  if (state.finish !== null || stepsToGive(settings, state) === 0) return 0;
  return Math.max(0, Math.min(state.target - rowsGiven(state), rowsLeft(state.queue)));
}

/** Updates that may still be handed out in this run. */
function stepsToGive({ maxSteps }: Settings, state: AdaptiveSgdState): number {
  const given = sum(state.devices, ({ updates, share }) => updates + share.length);
  return maxSteps - state.steps - given;
}

function step(
  settings: Settings,
  state: AdaptiveSgdState,
  device: AdaptiveSgdDevice,
): readonly [AdaptiveSgdState, Command] {
  const batchRows = batchRowsOf(settings, state, device);
  const [dealt, ...share] = device.share;
  const [queue, rows] =
    dealt === undefined ? takeRows(state.queue, batchRows) : [state.queue, dealt];
  const rate = (count: number) => learningRate(settings, state.queue.rows, rows, count);
  const next = withChanged({ ...state, queue }, device.id, {
    updates: device.updates + 1,
    rows: [...device.rows, ...rows],
    rowCount: device.rowCount + countRows(rows),
    outstanding: device.outstanding + 1,
    share,
    learningRate: rate(batchRows),
    pushing: false,
  });
  return [
    next,
    {
      type: "step",
      device: device.id,
      rows,
      learningRate: rate(countRows(rows)),
      model: `replica:${device.id}`,
    },
  ];
}

/**
 * η for a batch of `count` rows that starts where `rows` does: schedule(t)·count/b_ref. The last
 * batch of an epoch may be short; its rate is less by as much, so that no row moves the model more
 * than others.
 */
function learningRate(
  settings: Settings,
  rowsPerEpoch: number,
  rows: readonly RowRange[],
  count: number,
): number {
  const rate = learningRateOf(settings, rowsPerEpoch, rows);
  return settings.scaleLearningRate ? (rate * count) / settings.referenceRows : rate;
}
