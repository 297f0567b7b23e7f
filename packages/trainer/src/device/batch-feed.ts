/**
 * Batches on their way to the kernels. Those that copy what is uploaded get the next batch while they
 * work on one: it is gathered, and on its way to the device, by the time that the step before is done. Kernels
 * that share memory are done with a step when they return from it, and get one batch after another.
 */
import type { DeviceArray, Kernels } from "@heterosgd/model";
import type { BatchBuffers } from "@heterosgd/sparse";

/** Rows that come in batches. Whoever asks for its batches anew must have the same object. */
export interface BatchSource {
  readonly rows: number;
  /** Rows of each batch but the last one, which has what is left. */
  readonly batchRows: number;
  /** Puts rows `from … from + count − 1` into the batch. */
  readonly fill: (batch: BatchBuffers, from: number, count: number) => void;
}

export interface UploadedBatch {
  readonly uploaded: unknown;
  readonly rows: number;
  /** What was uploaded, until the work on it is done. */
  readonly batch: BatchBuffers;
}

export interface BatchFeed {
  /**
   * Has the work done on one batch of the source after another.
   *
   * @param following - what will be asked for next, if that is known: its first batch is uploaded meanwhile.
   */
  forEach(
    source: BatchSource,
    work: (batch: UploadedBatch) => Promise<void>,
    following?: () => BatchSource | null,
  ): Promise<void>;
  /** Has it ask once more what follows, if work is under way. */
  look(): void;
}

/** A batch that was uploaded before anybody asked for it. */
interface Ahead extends UploadedBatch {
  readonly source: BatchSource;
  readonly from: number;
}

type Slot = 0 | 1;

/** How many batches such kernels are fed from. */
export function feedBuffers({ sharesMemory }: Pick<Kernels, "sharesMemory">): number {
  return sharesMemory ? 1 : 2;
}

/** @param buffers - `feedBuffers` of them. */
export function createBatchFeed(
  kernels: Pick<Kernels<DeviceArray, unknown>, "upload">,
  buffers: readonly BatchBuffers[],
): BatchFeed {
  /** In which the batch is that the kernels work on, or worked on last. */
  let working: Slot = 0;
  let ahead: Ahead | null = null;
  let look = (): void => undefined;

  function put(source: BatchSource, from: number, slot: Slot): Ahead {
    const batch = buffers[slot]!;
    const rows = Math.min(source.batchRows, source.rows - from);
    source.fill(batch, from, rows);
    return { source, from, rows, batch, uploaded: kernels.upload(batch, slot) };
  }

  function take(source: BatchSource, from: number): UploadedBatch {
    if (ahead?.source !== source || ahead.from !== from) return put(source, from, working);
    const taken = ahead;
    ahead = null;
    working = other(working);
    return taken;
  }

  /** What fails here is tried again, and fails, when its turn comes. */
  function lookAhead(source: BatchSource | null, from: number): void {
    if (source === null || (ahead?.source === source && ahead.from === from)) return;
    ahead = null;
    try {
      ahead = put(source, from, other(working));
    } catch {
      // Then it is not ahead.
    }
  }

  return {
    async forEach(source, work, following = () => null) {
      const { rows, batchRows } = source;
      for (let from = 0; from < rows; from += batchRows) {
        const done = work(take(source, from));
        if (buffers.length > 1) {
          const next = from + batchRows;
          look = next < rows ? () => lookAhead(source, next) : () => lookAhead(following(), 0);
          look();
        }
        try {
          await done;
        } finally {
          look = () => undefined;
        }
      }
    },

    look: () => look(),
  };
}

const other = (slot: Slot): Slot => (slot === 0 ? 1 : 0);
