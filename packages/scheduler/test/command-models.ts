import type { Command, ModelName } from "../src/index.js";

/** The models that a device's command reads or writes. */
export function uses(command: Command): readonly ModelName[] {
  switch (command.type) {
    case "step":
      return [command.model];
    case "accumulate":
      return [command.model, command.into];
    case "pull":
      return ["global", `replica:${command.device}`];
    case "push":
      return [command.model ?? `replica:${command.device}`];
    case "apply":
      return [command.source, command.target];
    case "blend":
      return [command.target, ...command.terms.map((term) => term.model)];
    default:
      return [];
  }
}

/** The models that a device's command changes. */
export function changes(command: Command): readonly ModelName[] {
  switch (command.type) {
    case "step":
      return [command.model];
    case "accumulate":
      return [command.into];
    case "pull":
      return [`replica:${command.device}`];
    case "apply":
      return [command.source, command.target];
    default:
      return [];
  }
}
