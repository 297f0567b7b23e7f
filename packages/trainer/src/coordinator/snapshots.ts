import type { ModelName } from "@heterosgd/scheduler";
import type { ModelArrays } from "../checkpoint/model-names.js";

/** Where the models of a policy's `checkpoint` go. */
export interface Snapshots {
  /**
   * Memory to copy these models into, in their order; null where no checkpoint can be taken now, or none
   * is wanted.
   */
  begin(models: readonly ModelName[]): readonly ModelArrays[] | null;
  /**
   * The copy is complete.
   *
   * @param updates - that each of the models has received.
   * @param executor - JSON that the executor needs to go on exactly; null for nothing.
   */
  taken(updates: readonly number[], executor: unknown): void | Promise<void>;
}

/** Takes none. */
export const noSnapshots: Snapshots = { begin: () => null, taken: () => undefined };
