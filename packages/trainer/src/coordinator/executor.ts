import type { Command, PolicyEvent } from "@heterosgd/scheduler";

/** A command that needs carrying out; reports and the stop are the coordinator's own. */
export type ExecutableCommand = Exclude<Command, { type: "report" | "stop" }>;

/** What stands between a policy and whatever computes: real devices, or a replay in this thread. */
export interface Executor {
  /** Takes a command on. Answers come from `next`. */
  execute(command: ExecutableCommand): void;
  /** The next event, in the order in which they happened. Rejects if the run cannot go on. */
  next(): Promise<PolicyEvent>;
}
