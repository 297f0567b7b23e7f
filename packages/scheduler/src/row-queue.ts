import type { RowRange } from "./contract.js";

/**
 * The rows that are still to be handed out, as JSON: a cursor into the permutation of the current
 * epoch, and before it whatever came back from lost devices. Never mutated.
 */
export interface RowQueue {
  /** N, rows of an epoch. */
  readonly rows: number;
  /** Epochs in all, null for no end. */
  readonly epochs: number | null;
  /** Where the cursor stands; `position` is always below `rows`. Beyond `epochs` nothing is given. */
  readonly epoch: number;
  readonly position: number;
  /** Rows given back: sorted, none twice, all before the cursor. */
  readonly returned: readonly RowRange[];
}

/** A queue of `epochs` passes (`Infinity` for no end) over `rows` rows. */
export function createRowQueue(rows: number, epochs: number): RowQueue {
  if (!(Number.isSafeInteger(rows) && rows > 0)) {
    throw new RangeError(`A row queue needs a whole number of rows, at least 1, not ${rows}.`);
  }
  return withEpochs({ rows, epochs: null, epoch: 0, position: 0, returned: [] }, epochs);
}

/** The queue with another end, which may lie before what is taken already. */
export function withEpochs(queue: RowQueue, epochs: number): RowQueue {
  return { ...queue, epochs: epochs === Infinity ? null : epochs };
}

/** Rows that `takeRows` can still give, `Infinity` if there is no end. */
export function rowsLeft(queue: RowQueue): number {
  const { epochs, epoch, rows, position } = queue;
  const ahead = epochs === null ? Infinity : Math.max(0, (epochs - epoch) * rows - position);
  return countRows(queue.returned.filter((range) => isWanted(queue, range.epoch))) + ahead;
}

function isWanted({ epochs }: RowQueue, epoch: number): boolean {
  return epochs === null || epoch < epochs;
}

/** Epochs that have no row left in the queue. */
export function epochsTaken(queue: RowQueue): number {
  return queue.returned[0]?.epoch ?? queue.epoch;
}

/** Rows left of the epoch that `takeRows` gives from next. */
export function rowsLeftInEpoch(queue: RowQueue): number {
  const epoch = epochsTaken(queue);
  if (!isWanted(queue, epoch)) return 0;
  const back = countRows(queue.returned.filter((range) => range.epoch === epoch));
  return back + (epoch === queue.epoch ? queue.rows - queue.position : 0);
}

/**
 * Takes one batch off the front: `count` rows, or as many as are left of the epoch at the front;
 * none if the queue is empty. Rows that were given back come first, several pieces making up one
 * batch if need be. A batch never holds rows of two epochs.
 */
export function takeRows(queue: RowQueue, count: number): readonly [RowQueue, readonly RowRange[]] {
  if (!(Number.isSafeInteger(count) && count > 0)) {
    throw new RangeError(`A batch has a whole number of rows, at least 1, not ${count}.`);
  }
  const epoch = epochsTaken(queue);
  if (!isWanted(queue, epoch)) return [queue, []];
  const taken: RowRange[] = [];
  const returned: RowRange[] = [];
  let wanted = count;
  for (const range of queue.returned) {
    const used = range.epoch === epoch ? Math.min(wanted, range.count) : 0;
    const { start } = range;
    if (used > 0) taken.push({ epoch, start, count: used });
    if (used < range.count) {
      returned.push({ epoch: range.epoch, start: start + used, count: range.count - used });
    }
    wanted -= used;
  }
  let { position } = queue;
  if (epoch === queue.epoch && wanted > 0) {
    const used = Math.min(wanted, queue.rows - position);
    taken.push({ epoch, start: position, count: used });
    position += used;
  }
  const cursor = position === queue.rows ? { epoch: queue.epoch + 1, position: 0 } : { position };
  return [{ ...queue, ...cursor, returned }, joinRanges(taken)];
}

/** Puts rows that `takeRows` gave back to the front, in their order in the epoch. */
export function giveBackRows(queue: RowQueue, ranges: readonly RowRange[]): RowQueue {
  return { ...queue, returned: joinRanges([...queue.returned, ...ranges]) };
}

/** Number of rows in the ranges. */
export function countRows(ranges: readonly RowRange[]): number {
  return ranges.reduce((sum, range) => sum + range.count, 0);
}

/** The same rows in as few ranges as possible, sorted by epoch and start. */
function joinRanges(ranges: readonly RowRange[]): readonly RowRange[] {
  if (ranges.length < 2) return ranges;
  const joined: RowRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.epoch - b.epoch || a.start - b.start)) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      last.epoch === range.epoch &&
      last.start + last.count === range.start
    ) {
      joined[joined.length - 1] = { ...last, count: last.count + range.count };
    } else {
      joined.push(range);
    }
  }
  return joined;
}
