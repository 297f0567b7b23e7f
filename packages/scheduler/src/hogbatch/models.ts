import type { DeviceInfo, ModelName } from "../contract.js";

/**
 * What an accelerator's update does to the shared model: it is added to it, or the accelerator's
 * copy takes its place, and with it undoes what the hosts did meanwhile.
 */
export type Accelerate = "add" | "overwrite";

/** Its option, as data. */
export const accelerateOption = {
  kind: "choice",
  default: "add",
  choices: ["add", "overwrite"],
  help:
    "What an accelerator's update does: it is added to the shared model, or takes its place, " +
    "which undoes what the hosts did meanwhile.",
} as const;

/** How many rows a host is sent at a time, as data. */
export const messageRowsOption = {
  kind: "count",
  default: 256,
  min: 1,
  help: "Rows that a host is sent at a time: as many of its batches as they hold, at least one.",
} as const;

/** The shared model, and a copy for each accelerator, with an accumulator where it adds. */
export function hogbatchModels(
  devices: readonly DeviceInfo[],
  accelerate: Accelerate,
): readonly ModelName[] {
  const own = devices
    .filter(({ role }) => role === "accelerator")
    .flatMap(({ id }): readonly ModelName[] =>
      accelerate === "add" ? [`replica:${id}`, `gradient:${id}:0`] : [`replica:${id}`],
    );
  return ["global", ...own];
}
