/**
 * What a run and the thread that writes its checkpoints say to each other. Models lie in shared
 * memory, which stays as it is until `write` has answered.
 */
import { fingerprintOf } from "./fingerprint.js";
import type { ModelArrays } from "./model-names.js";
import type { CheckpointRecord, Fingerprints } from "./record.js";
import { pruneCheckpoints } from "./remove-checkpoints.js";
import { writeCheckpoint, type WrittenCheckpoint } from "./write-checkpoint.js";

/** What all checkpoints of a run have in common. */
export interface WriterSetup {
  /** Where they lie; made if it is missing. */
  readonly folder: string;
  /** How many of the newest are kept, besides the best one. */
  readonly keep: number;
  /** The data sets' buffers, for their fingerprints. */
  readonly train: SharedArrayBuffer;
  readonly evaluation: SharedArrayBuffer | null;
  /** Of the model files. */
  readonly labelNames?: readonly string[] | undefined;
  readonly info?: Readonly<Record<string, string>> | undefined;
}

export interface WriteCall {
  readonly record: Omit<CheckpointRecord, "fingerprints"> & {
    readonly fingerprints: Pick<Fingerprints, "configuration">;
  };
  /** The arrays of the record's models, in its order. */
  readonly models: readonly ModelArrays[];
}

export interface WriteReply extends WrittenCheckpoint {
  /** Time that it took. */
  readonly seconds: number;
  /** Why older checkpoints could not be removed, null where they could. */
  readonly notRemoved: string | null;
}

export interface CheckpointWriterApi {
  /** Writes one checkpoint, then removes those that are too many. @throws TrainerError CHECKPOINT_WRITE */
  write(call: WriteCall): Promise<WriteReply>;
  close(): Promise<void>;
}

/**
 * Writes in this thread.
 *
 * @param clock - the time in milliseconds, from any origin.
 */
export function createWriterHost(
  setup: WriterSetup,
  clock: () => number = () => performance.now(),
): CheckpointWriterApi {
  const { folder, keep, labelNames, info } = setup;
  // Taken when first needed: it takes a second or so, during which nobody waits.
  let data: Pick<Fingerprints, "train" | "evaluation"> | undefined;
  return {
    async write({ record, models }) {
      const began = clock();
      data ??= {
        train: fingerprintOf(setup.train),
        evaluation: setup.evaluation && fingerprintOf(setup.evaluation),
      };
      const fingerprints = { ...data, ...record.fingerprints };
      const contents = { record: { ...record, fingerprints }, models, labelNames, info };
      const written = await writeCheckpoint(folder, contents);
      const notRemoved = await pruneCheckpoints(folder, keep).then(
        () => null,
        (error: unknown) => (error as Error).message,
      );
      return { ...written, seconds: (clock() - began) / 1000, notRemoved };
    },
    close: () => Promise.resolve(),
  };
}
