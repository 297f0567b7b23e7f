/** What checkpoints take on the disk, before there is one: the policy is asked which models it would save. */
import { rehearse, type RehearsalOptions } from "@heterosgd/trainer";

/** What checkpoints take on the disk, in bytes. */
export interface CheckpointNeed {
  /** One checkpoint on the disk, label names and the like left out. */
  readonly each: number;
  /** As many of them as there may be at once: those that are kept, the best one, one being written. */
  readonly disk: number;
}

export interface NeedOptions extends RehearsalOptions {
  /** Of a model's parameters, and of those with the optimiser's state. */
  readonly parameterBytes: number;
  readonly modelBytes: number;
  readonly keep: number;
}

export function checkpointNeed(options: NeedOptions): CheckpointNeed {
  const { parameterBytes, modelBytes, keep } = options;
  const each = rehearse(options)
    .saved.map((name) => (name.startsWith("gradient:") ? parameterBytes : modelBytes))
    .reduce((sum, bytes) => sum + bytes, 0);
  return { each, disk: each * (keep + 2) };
}
