/** What checkpoints take, before there is one: the policy is asked which models it would save. */
import type { Command, DeviceInfo, ModelName, Policy, PolicyEvent } from "@heterosgd/scheduler";

/** What checkpoints take, in bytes. */
export interface CheckpointNeed {
  /** Copies of models beside those that are trained. */
  readonly memory: number;
  /** One checkpoint on the disk, label names and the like left out. */
  readonly each: number;
  /** As many of them as there may be at once: those that are kept, the best one, one being written. */
  readonly disk: number;
}

export interface NeedOptions {
  readonly policy: Policy;
  readonly devices: readonly DeviceInfo[];
  readonly rows: number;
  readonly parameters: number;
  /** Of a model's parameters, and of those with the optimiser's state. */
  readonly parameterBytes: number;
  readonly modelBytes: number;
  readonly keep: number;
}

export function checkpointNeed(options: NeedOptions): CheckpointNeed {
  const { parameterBytes, modelBytes, keep } = options;
  const memory = savedModels(options)
    .map((name) => (name.startsWith("gradient:") ? parameterBytes : modelBytes))
    .reduce((sum, bytes) => sum + bytes, 0);
  return { memory, each: memory, disk: memory * (keep + 2) };
}

/** No round has more commands than that on any data that there is memory for. */
const MOST_COMMANDS = 200_000;

/**
 * The models of the policy's first checkpoint: its commands are answered as devices would, without
 * computing anything.
 */
function savedModels({ policy, devices, rows, parameters }: NeedOptions): readonly ModelName[] {
  let [state, issued] = policy.start({ devices, rows, parameters });
  const answers: PolicyEvent[] = [{ type: "save" }];
  for (let count = 0; count < MOST_COMMANDS; count++) {
    for (const command of issued) {
      if (command.type === "checkpoint" || command.type === "stop") return command.models;
      const answer = answerTo(command);
      if (answer !== null) answers.push(answer);
    }
    const event = answers.shift();
    if (event === undefined) break;
    [state, issued] = policy.next(state, event);
  }
  return policy.models(devices);
}

function answerTo(command: Command): PolicyEvent | null {
  switch (command.type) {
    case "step":
    case "accumulate": {
      const { device, rows } = command;
      const count = rows.reduce((sum, range) => sum + range.count, 0);
      return { type: "done", device, rows, nonZeros: count, seconds: count, loss: count };
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
