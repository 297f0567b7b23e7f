/** What the states of all policies have in common where a run can be resumed. */
import type { DeviceInfo, PolicySetup, RowRange, StopReason } from "../contract.js";
import { epochsTaken } from "../row-queue.js";
import type { RowQueue } from "../row-queue.js";
import type { CheckedDevice } from "./devices.js";
import type { Run } from "./run.js";
import { count, fixed, invalid, list, nullable, oneOf, record } from "./shape.js";
import type { Fields, Shape } from "./shape.js";

/** Some rows, in any order. */
export const rowsShape: Shape<readonly RowRange[]> = list(
  record<RowRange>({ epoch: count(), start: count(), count: count(1) }),
);

export const queueShape: Shape<RowQueue> = record<RowQueue>({
  rows: count(1),
  epochs: nullable(count(1)),
  epoch: count(),
  position: count(),
  returned: rowsShape,
});

export const finishShape: Shape<StopReason | null> = nullable(
  oneOf("epochs", "steps", "time", "target", "patience", "signal", "devices"),
);

/** What is said of a device when it enters. */
export const infoFields: Fields<CheckedDevice> = {
  id: count(),
  maxBatchRows: count(1),
  threads: count(1),
  role: oneOf("host", "accelerator"),
};

export const joinedShape: Shape<readonly CheckedDevice[]> = list(record(infoFields));

export const runFields: Fields<Run> = {
  phase: oneOf("saving", "stopped"),
  queue: queueShape,
  rounds: count(),
  steps: count(),
  epochsDone: count(),
  evaluated: nullable(count()),
  ...fixed({ saveDue: false }),
  finish: finishShape,
};

/** What a state says, in every policy's terms. */
export interface Progress {
  readonly stopped: boolean;
  readonly finish: StopReason | null;
  readonly queue: RowQueue;
  readonly epochsDone: number;
  /** Rows that are neither in the queue nor in the global model. */
  readonly pending?: readonly RowRange[];
  readonly devices: readonly (Pick<DeviceInfo, "id" | "maxBatchRows"> & {
    readonly batchRows?: number;
  })[];
  readonly joined: readonly Pick<DeviceInfo, "id">[];
}

/** The most epochs by which rows that came back may lie behind those that are handed out. */
const MOST_EPOCHS = 1000;

/**
 * Whether the parts of a state agree with each other and with the run.
 *
 * @throws {@link SchedulerError} `INVALID_STATE`
 */
export function checkProgress(state: Progress, { rows }: Pick<PolicySetup, "rows">): void {
  const { stopped, finish, queue, epochsDone, pending = [], devices, joined } = state;
  if ((finish !== null) !== stopped) {
    throw invalid("finish", finish, stopped ? "why the run has stopped" : "null");
  }
  if (queue.rows !== rows) throw invalid("queue.rows", queue.rows, `the training set's ${rows}`);
  if (queue.position >= rows) throw invalid("queue.position", queue.position, `below ${rows}`);
  checkRanges(queue, pending);
  // Every epoch that ends is reported, and no merge holds anything like as many.
  if (queue.epoch - epochsDone > MOST_EPOCHS) {
    throw invalid("queue.epoch", queue.epoch, `at most ${MOST_EPOCHS} after those that are done`);
  }
  const ended = Math.min(epochsTaken(queue), ...pending.map(({ epoch }) => epoch));
  if (epochsDone !== ended) throw invalid("epochsDone", epochsDone, `${ended}, by the queue`);
  for (const { id, maxBatchRows, batchRows = 1 } of devices) {
    if (batchRows > maxBatchRows) {
      throw invalid(`batchRows of device ${id}`, batchRows, `at most its ${maxBatchRows}`);
    }
  }
  const ids = [...devices, ...joined].map(({ id }) => id);
  const twice = ids.find((id, i) => ids.indexOf(id) < i);
  if (twice !== undefined) throw invalid("a second device's id", twice, "its own");
}

/** Rows that were handed out: sorted in the queue, none twice, all before its cursor. */
function checkRanges({ rows, epoch, position, returned }: RowQueue, pending: readonly RowRange[]) {
  checkOrder(returned, "queue.returned");
  const all = [...returned, ...pending];
  checkOrder(
    all.toSorted((a, b) => a.epoch - b.epoch || a.start - b.start),
    "the rows given back or pending",
  );
  for (const range of all) {
    const end = range.start + range.count;
    const most = range.epoch < epoch ? rows : range.epoch > epoch ? 0 : position;
    if (end > most) throw invalid("the end of a range of rows", end, `at most ${most}`);
  }
}

function checkOrder(ranges: readonly RowRange[], at: string): void {
  for (const [i, { epoch, start }] of ranges.entries()) {
    const before = ranges[i - 1];
    if (before === undefined || before.epoch < epoch) continue;
    if (before.epoch === epoch && before.start + before.count <= start) continue;
    throw invalid(at, ranges, "in order, no row twice");
  }
}
