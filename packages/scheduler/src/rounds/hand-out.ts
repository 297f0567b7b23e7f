/**
 * Batches are dealt before a round starts, so that which device gets which rows does not depend on
 * speeds. Two of them may be outstanding at a device, which then need not wait for the coordinator:
 * nobody else touches what it works on.
 */
import type { Command, ModelName, Transition } from "../contract.js";
import { apportion } from "../common/apportion.js";
import { withDevice } from "../common/devices.js";
import { sum } from "../common/numbers.js";
import { learningRateOf } from "../learning-rate.js";
import { countRows, giveBackRows, rowsLeftInEpoch, takeRows } from "../row-queue.js";
import type { RoundAlgorithm, RoundDevice, RoundState } from "./algorithm.js";

const queueDepth = 2;

/**
 * Deals the batches of a round: in each turn one to every device. What is left of an epoch and no
 * full turn is split in proportion to the devices' batches.
 */
export function deal(algorithm: RoundAlgorithm, state: RoundState): RoundState {
  const turns = algorithm.turns(state.queue.rows, state.devices.length);
  let current = state;
  for (let turn = 0; turn < turns && rowsLeftInEpoch(current.queue) > 0; turn++) {
    current = dealTurn(algorithm, current);
  }
  return current;
}

function dealTurn({ settings }: RoundAlgorithm, state: RoundState): RoundState {
  const dealt = sum(state.devices, (device) => device.share.length);
  const taking = state.devices.slice(0, Math.max(0, settings.maxSteps - state.steps - dealt));
  let { queue, devices } = state;
  const rows = Math.min(
    rowsLeftInEpoch(queue),
    sum(taking, (device) => device.batchRows),
  );
  const claims = taking.map(({ batchRows }) => ({ weight: batchRows, least: 0, most: batchRows }));
  for (const [i, count] of apportion(rows, claims).entries()) {
    const device = taking[i];
    if (device === undefined || count === 0) continue;
    const [rest, batch] = takeRows(queue, count);
    queue = rest;
    devices = withDevice(devices, device.id, { share: [...device.share, batch] });
  }
  return { ...state, queue, devices };
}

/** Gives what was dealt to whoever has room for it; whoever has had all of it pushes. */
export function handOut(algorithm: RoundAlgorithm, state: RoundState): Transition<RoundState> {
  const commands: Command[] = [];
  const devices = state.devices.map((device) => {
    let current = device;
    while (current.outstanding < queueDepth && current.share.length > 0) {
      current = give(algorithm, state, current, commands);
    }
    if (current.share.length > 0 || current.pushing) return current;
    const models = changedModels(algorithm, current);
    for (const model of models)
      commands.push({ type: "push", device: device.id, model, norm: false });
    return { ...current, pushing: true, pushes: models.length };
  });
  return [{ ...state, devices }, commands];
}

/** Whether every device has trained and pushed all that it was given. */
export function allIn(state: RoundState): boolean {
  return state.devices.every(
    ({ outstanding, pushing, pushes }) => outstanding === 0 && pushing && pushes === 0,
  );
}

/** Takes back what was dealt, but not yet given. */
export function withdraw(state: RoundState): RoundState {
  const dealt = state.devices.flatMap((device) => device.share.flat());
  const devices = state.devices.map((device) => ({ ...device, share: [] }));
  return { ...state, queue: giveBackRows(state.queue, dealt), devices };
}

/** Takes all back that the devices were given or dealt since the previous merge. */
export function giveBackAll(state: RoundState, devices: readonly RoundDevice[]): RoundState {
  const rows = devices.flatMap((device) => [...device.rows, ...device.share.flat()]);
  return { ...state, queue: giveBackRows(state.queue, rows) };
}

function give(
  { settings, batchRows, work }: RoundAlgorithm,
  state: RoundState,
  device: RoundDevice,
  commands: Command[],
): RoundDevice {
  const [rows = [], ...share] = device.share;
  const { id } = device;
  const model: ModelName = `replica:${id}`;
  const learningRate =
    work === "replica" ? learningRateOf(settings, state.queue.rows, rows) : state.learningRate;
  if (work === "replica") {
    // A short batch moves the model by as much less, so that no row counts for more than others.
    const scaled = (learningRate * countRows(rows)) / batchRows;
    commands.push({ type: "step", device: id, rows, learningRate: scaled, model });
  } else {
    const into: ModelName = `gradient:${id}:0`;
    commands.push({ type: "accumulate", device: id, rows, model, into, reset: true });
  }
  return {
    ...device,
    share,
    rows: [...device.rows, ...rows],
    updates: device.updates + 1,
    outstanding: device.outstanding + 1,
    learningRate,
  };
}

/** The device's models that the merge reads and others have not seen as they are. */
function changedModels(
  { work, keepsReplicas }: RoundAlgorithm,
  { id, updates, pulled }: RoundDevice,
): readonly ModelName[] {
  const replica = work === "replica" && updates > 0;
  const restarted = keepsReplicas && pulled;
  const gradient = work === "gradient" && updates > 0;
  return [
    ...(replica || restarted ? ([`replica:${id}`] as const) : []),
    ...(gradient ? ([`gradient:${id}:0`] as const) : []),
  ];
}
