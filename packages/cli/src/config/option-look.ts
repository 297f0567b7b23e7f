/** What options are on the command line, and how one is described. */
import * as z from "zod";

/** What an option is on the command line, beyond what its type says. */
export interface OptionLook {
  /** Heading under which help lists it. */
  readonly group: string;
  /** Name of its value in help, such as `FILE`; none for a switch that is only on or off. */
  readonly value?: string;
  readonly short?: string;
  /** Names files: relative to the folder of the config file that gives it. */
  readonly path?: true;
  /** Words that are none, where it does. */
  readonly names?: readonly string[];
  /** What is accepted, where the type alone cannot say. */
  readonly expected?: string;
}

export const optionLooks = z.registry<OptionLook>();

export function option<T extends z.ZodType>(type: T, look: OptionLook, help: string): T {
  const described = type.describe(help);
  optionLooks.add(described, look);
  return described;
}

export const data = "Data";
export const network = "Network";
export const learning = "Learning rate and updates";
export const stopping = "Length of the run";
export const choosing = "Algorithm";
export const own = "Options of algorithms";
export const running = "Devices and output";
export const saving = "Checkpoints and lost devices";
export const simulating = "Simulation";
