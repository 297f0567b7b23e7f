import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { DeviceId, DeviceInfo, JoinedEvent, LostEvent, ModelName } from "@heterosgd/scheduler";
import {
  amount,
  count,
  digest,
  listOf,
  members,
  oneOf,
  refuse,
  text,
  type Check,
} from "../checkpoint/checks.js";
import { modelName } from "../checkpoint/model-names.js";
import {
  infoCheck,
  MOST_DEVICES,
  type CheckpointDevice,
  type CheckpointRecord,
} from "../checkpoint/record.js";
import { ownerOf } from "../coordinator/model-table.js";
import type { Profile, ProfileDevice } from "./profile.js";

/** All that a simulation needs, beside policy and models, to go on from a checkpoint exactly. */
export interface SimulationState {
  /** `simulationKey` of what times come from. */
  readonly key: string;
  /** Virtual seconds since the run began. */
  readonly now: number;
  /** Where each device is, by id. */
  readonly devices: readonly ("to come" | "there" | "gone")[];
  /** State of each device's random numbers, by id. */
  readonly random: readonly (readonly number[])[];
  /** Models that a reduction has left with every device. */
  readonly everywhere: readonly ModelName[];
  /** Events that the policy gets next. */
  readonly pending: readonly (LostEvent | JoinedEvent)[];
}

/** Differs where anything does that times follow from. */
export function simulationKey(
  { kinds, link, network }: Profile,
  devices: readonly ProfileDevice[],
  countsEvaluation: boolean,
): string {
  const document = JSON.stringify([kinds, link, network ?? null, devices, countsEvaluation]);
  return createHash("sha256").update(document).digest("hex");
}

const word = count(0, 2 ** 32 - 1);

const joined: Check<JoinedEvent> = members({ type: oneOf("joined"), device: infoCheck });
const lost: Check<LostEvent> = members({
  type: oneOf("lost"),
  device: count(),
  reason: text(2000),
});

const stateCheck: Check<SimulationState> = members({
  key: digest,
  now: amount,
  devices: listOf(oneOf("to come", "there", "gone"), MOST_DEVICES),
  random: listOf(listOf(word, 4), MOST_DEVICES),
  everywhere: listOf(modelName, 10),
  pending: listOf<LostEvent | JoinedEvent>(
    (value, at) => (Object(value).type === "lost" ? lost(value, at) : joined(value, at)),
    MOST_DEVICES,
  ),
});

/** @throws TrainerError CHECKPOINT_FORMAT */
export function checkSimulationState(value: unknown): SimulationState {
  const at = "state.json.executor";
  const state = stateCheck(value, at);
  const { devices, random, everywhere, pending } = state;
  if (random.length !== devices.length) {
    throw refuse(random, `${at}.random`, `a list of ${devices.length}`);
  }
  if (!random.every((words) => words.length === 4 && words.some((each) => each !== 0))) {
    throw refuse(random, `${at}.random`, "four words of each device, not all zero");
  }
  if (everywhere.some((name) => ownerOf(name) !== null)) {
    throw refuse(everywhere, `${at}.everywhere`, "models that belong to no device");
  }
  const idOf = (event: LostEvent | JoinedEvent): DeviceId =>
    event.type === "lost" ? event.device : event.device.id;
  if (pending.some((event) => idOf(event) >= devices.length)) {
    throw refuse(pending, `${at}.pending`, `events of ${devices.length} devices`);
  }
  return state;
}

/**
 * Whether a simulation of these devices goes on as the checkpoint's would have done.
 *
 * @param counted - the devices that the policy counts on.
 * @throws TrainerError CHECKPOINT_FORMAT
 */
export function isSameSimulation(
  { executor, devices: before }: CheckpointRecord,
  key: string,
  devices: readonly CheckpointDevice[],
  counted: readonly DeviceInfo[],
): boolean {
  if (executor === null) return false;
  const state = checkSimulationState(executor);
  requireCounted(state, counted);
  const apart = ({ spec, runs, info }: CheckpointDevice) => ({ spec, runs, info });
  return (
    state.key === key &&
    state.devices.length === devices.length &&
    isDeepStrictEqual(before.map(apart), devices.map(apart))
  );
}

/** Refuses a state in which other devices are there than the policy knows of, or is about to. */
function requireCounted(
  { devices, pending }: SimulationState,
  counted: readonly DeviceInfo[],
): void {
  const known = new Set(counted.map(({ id }) => id));
  for (const event of pending) {
    if (event.type === "lost") known.delete(event.device);
    else known.add(event.device.id);
  }
  const there = [...devices.keys()].filter((id) => devices[id] === "there");
  if (there.length === known.size && there.every((id) => known.has(id))) return;
  throw refuse(devices, "state.json.executor.devices", `${known.size} that the policy counts on`);
}
