/**
 * What each device does at its micro-batch borders: it freezes its sum if a round waits for it, and
 * goes on computing. It is told so while the micro-batch is in flight, with the first one of the
 * next sum, which it has to compute in any case. Of a sum one micro-batch is outstanding: a second
 * one in the device's queue would put off the next border, and with it everybody's reduction.
 */
import type { Command, Transition } from "../contract.js";
import { sum } from "../common/numbers.js";
import { rowsLeft, takeRows } from "../row-queue.js";
import type { Settings } from "./options.js";
import { accumulatorsOf, emptyAccumulator } from "./state.js";
import type { AbsSgdDevice, AbsSgdState } from "./state.js";

/** Freezes and gives work, wherever there is any to do at a device's next border. */
export function workOn(settings: Settings, state: AbsSgdState): Transition<AbsSgdState> {
  const commands: Command[] = [];
  let current = state;
  for (const { id } of state.devices) {
    const device = current.devices.find((candidate) => candidate.id === id);
    if (device === undefined || device.lost) continue;
    const frozen = freezes(current, device) ? freeze(current, device, commands) : device;
    current = replace(current, frozen);
    if (isFilling(frozen)) continue;
    // What is rotated when a reduction is done must not be being pulled.
    if (!mayGive(settings, current) || (isBehind(current, frozen) && current.reducing !== null))
      continue;
    current = give(settings, current, frozen, commands);
  }
  return [current, commands];
}

/** Whether every device's sum is frozen and readable, or it has none and gets no more. */
export function allFrozen({ devices }: AbsSgdState): boolean {
  return devices.every(({ frozen, filled, working, pushes }) =>
    frozen === null ? working.length === 0 && filled.microBatches === 0 : pushes === 0,
  );
}

/** Whether no device is computing or pushing. */
export function allIdle({ devices }: AbsSgdState): boolean {
  return devices.every(({ working, pushes }) => working.length === 0 && pushes === 0);
}

/** Whether the sum that the device fills has a micro-batch in flight. */
function isFilling({ working, freezing }: AbsSgdDevice): boolean {
  return working.length > freezing;
}

/** Has the sums pushed that a checkpoint needs; they go on growing after it. */
export function pushSums(state: AbsSgdState): Transition<AbsSgdState> {
  const commands: Command[] = [];
  const devices = state.devices.map((device) => {
    if (device.filled.microBatches === 0) return device;
    const [model] = accumulatorsOf(device);
    commands.push({ type: "push", device: device.id, model, norm: false });
    return { ...device, pushes: device.pushes + 1 };
  });
  return [{ ...state, pausing: "push", devices }, commands];
}

function freezes({ reducing, pausing }: AbsSgdState, device: AbsSgdDevice): boolean {
  const isEmpty = device.filled.microBatches === 0 && !isFilling(device);
  return reducing === null && pausing === null && device.frozen === null && !isEmpty;
}

/** `(S_i, c_i) <- (G_i, m_i); (G_i, m_i) <- 0`, which from now on is computed at the new model. */
function freeze(state: AbsSgdState, device: AbsSgdDevice, commands: Command[]): AbsSgdDevice {
  const { id, filling, filled } = device;
  const [full] = accumulatorsOf(device);
  commands.push({ type: "push", device: id, model: full, norm: false });
  commands.push({ type: "pull", device: id });
  return {
    ...device,
    filling: filling === 0 ? 1 : 0,
    filled: { ...emptyAccumulator, at: state.rounds },
    frozen: filled,
    freezing: device.working.length,
    pushes: device.pushes + 1,
  };
}

function mayGive({ maxSteps }: Settings, state: AbsSgdState): boolean {
  const given = sum(
    state.devices,
    ({ filled, frozen, working }) =>
      filled.microBatches + (frozen?.microBatches ?? 0) + working.length,
  );
  return (
    state.pausing === null &&
    state.finish === null &&
    state.steps + given < maxSteps &&
    rowsLeft(state.queue) > 0
  );
}

/** Whether the device would begin a sum at another model than the others. */
function isBehind({ rounds }: AbsSgdState, { filled }: AbsSgdDevice): boolean {
  return filled.microBatches === 0 && filled.at < rounds;
}

/**
 * `G_i += Σ∇ℓ(w_t; micro-batch)`. A device that begins in the middle has nothing for this round,
 * whose gradients are of w_{t−1}; before the first update there is no such difference.
 */
function give(
  { microBatch }: Settings,
  state: AbsSgdState,
  device: AbsSgdDevice,
  commands: Command[],
): AbsSgdState {
  const { id, filled, maxBatchRows } = device;
  const { rounds } = state;
  const behind = isBehind(state, device);
  const [queue, rows] = takeRows(state.queue, Math.min(microBatch, maxBatchRows));
  const [into] = accumulatorsOf(device);
  if (behind) commands.push({ type: "pull", device: id });
  commands.push({
    type: "accumulate",
    device: id,
    rows,
    model: `replica:${id}`,
    into,
    reset: filled.microBatches === 0,
  });
  const begun = behind ? { filled: { ...filled, at: rounds } } : {};
  const late = behind && rounds > 0 ? { frozen: emptyAccumulator } : {};
  return replace(
    { ...state, queue },
    { ...device, ...begun, ...late, working: [...device.working, rows] },
  );
}

function replace(state: AbsSgdState, changed: AbsSgdDevice): AbsSgdState {
  const devices = state.devices.map((device) => (device.id === changed.id ? changed : device));
  return { ...state, devices };
}
