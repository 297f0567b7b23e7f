/** What a policy will do that takes memory, found out by having it play with devices that compute nothing. */
import {
  countRows,
  type Command,
  type DeviceId,
  type DeviceInfo,
  type ModelName,
  type Policy,
  type PolicyEvent,
} from "@heterosgd/scheduler";

export interface Rehearsal {
  /** Models of the first checkpoint that it is asked for. */
  readonly saved: readonly ModelName[];
  /** Devices that update a model which all share. */
  readonly sharing: readonly DeviceId[];
  /** Devices that train on one row at a time, however many they are given. */
  readonly rowByRow: readonly DeviceId[];
}

export interface RehearsalOptions {
  readonly policy: Policy;
  readonly devices: readonly DeviceInfo[];
  /** Of the training set. */
  readonly rows: number;
  /** Of a model. */
  readonly parameters: number;
}

/** No round has more commands on any data that there is memory for. */
const MOST_EVENTS = 200_000;

/**
 * Plays a run until it has a checkpoint or stops; one that never comes to it is taken to save all
 * models.
 */
export function rehearse({ policy, devices, rows, parameters }: RehearsalOptions): Rehearsal {
  const sharing = new Set<DeviceId>();
  const rowByRow = new Set<DeviceId>();
  const inBatches = new Set<DeviceId>();
  const rehearsal = (saved: readonly ModelName[]): Rehearsal => ({
    saved,
    sharing: [...sharing],
    rowByRow: [...rowByRow].filter((device) => !inBatches.has(device)),
  });
  let [state, commands] = policy.start({ devices, rows, parameters });
  const events: PolicyEvent[] = [{ type: "save" }];
  // Read from the front: there may be many.
  for (let next = 0; next < MOST_EVENTS; next++) {
    for (const command of commands) {
      if (command.type === "checkpoint" || command.type === "stop") {
        return rehearsal(command.models);
      }
      if (command.type === "step" && !command.model.includes(":")) sharing.add(command.device);
      if (command.type === "step" && command.microBatchRows === 1) rowByRow.add(command.device);
      else if (command.type === "step" || command.type === "accumulate") {
        inBatches.add(command.device);
      }
      const answer = answerTo(command);
      if (answer !== null) events.push(answer);
    }
    const event = events[next];
    if (event === undefined) break;
    [state, commands] = policy.next(state, event);
  }
  return rehearsal(policy.models(devices));
}

/** What a device that is always equally fast would say. */
function answerTo(command: Command): PolicyEvent | null {
  switch (command.type) {
    case "step":
    case "accumulate": {
      const { device, rows } = command;
      const count = countRows(rows);
      return { type: "done", device, rows, nonZeros: count, seconds: count, loss: 1 };
    }
    case "push":
      return { type: "pushed", device: command.device, norm: command.norm ? 1 : null };
    case "apply":
      return { type: "applied", device: command.device };
    case "blend":
      return { type: "blended", id: command.id };
    case "evaluate":
      return { type: "evaluated", id: command.id };
    default:
      return null;
  }
}
