/** Going on from a checkpoint: what must be the same, what is taken over, and what goes on exactly. */
import { isDeepStrictEqual } from "node:util";
import { parameterLayout } from "@heterosgd/model";
import type { DeviceInfo, ModelName, Transition } from "@heterosgd/scheduler";
import { differences, fingerprintConfiguration, fingerprintOf } from "../checkpoint/fingerprint.js";
import type { Checkpoint } from "../checkpoint/open-checkpoint.js";
import { copyArrays } from "../checkpoint/model-names.js";
import type { CheckpointRecord } from "../checkpoint/record.js";
import { ownerOf, type ModelTable } from "../coordinator/model-table.js";
import { TrainerError } from "../errors.js";
import type { CheckpointOptions } from "./checkpointer.js";
import { metricValue } from "./target.js";
import type { TrainOptions } from "./train.js";

/** What a run must have been begun with to be resumed. */
export type SameRun = Pick<
  TrainOptions,
  "train" | "evaluation" | "shape" | "rule" | "seed" | "policy"
> & { readonly checkpoints?: CheckpointOptions };

/** What says how long a run lasts. */
export type WorkLeftOptions = Pick<
  TrainOptions,
  "policy" | "train" | "shape" | "target" | "patience" | "maxSeconds"
>;

/** A checkpoint that a run can go on from. */
export interface Resumption {
  readonly checkpoint: Checkpoint;
  readonly record: CheckpointRecord;
  /** The policy's state, which the policy has checked. */
  readonly state: unknown;
  /** Whether all devices are as they were: then everything goes on as it would have done. */
  readonly exact: boolean;
}

/**
 * Refuses a checkpoint of another run.
 *
 * @param isSame - whether the devices are those of the checkpoint, of which the policy counts on some.
 * @throws TrainerError CHECKPOINT_MISMATCH, naming what differs; CHECKPOINT_FORMAT if the policy's
 * state is none.
 */
export function resumptionOf(
  checkpoint: Checkpoint,
  run: SameRun,
  isSame: (record: CheckpointRecord, counted: readonly DeviceInfo[]) => boolean,
): Resumption {
  const { record, path } = checkpoint;
  const { policy } = run;
  const different = differencesOf(record, run);
  if (different.length > 0) {
    throw new TrainerError(
      "CHECKPOINT_MISMATCH",
      `the checkpoint ${path} is of another run; what differs: ${different.join(", ")}`,
    );
  }
  const state = stateOf(checkpoint, run);
  return { checkpoint, record, state, exact: isSame(record, policy.devices(state)) };
}

/**
 * Refuses a checkpoint that a run can't go on from, before anything is done for it: `train` and `simulate`
 * would refuse it as well.
 *
 * @throws TrainerError CHECKPOINT_MISMATCH, naming what differs; CHECKPOINT_FORMAT
 */
export function checkResumable(checkpoint: Checkpoint, run: SameRun): void {
  resumptionOf(checkpoint, run, () => false);
}

/**
 * Whether a run that goes on from the checkpoint has anything to do: it may have reached its epochs, its
 * steps, its time or its target.
 *
 * @throws TrainerError CHECKPOINT_FORMAT
 */
export function hasWorkLeft(
  checkpoint: Pick<Checkpoint, "path" | "record">,
  options: WorkLeftOptions,
): boolean {
  const { record } = checkpoint;
  const { policy, target, patience, maxSeconds } = options;
  const { metrics } = record;
  if (maxSeconds !== undefined && record.seconds >= maxSeconds) return false;
  if (patience !== undefined && record.patience.without >= patience.evaluations) return false;
  if (target !== undefined && metrics !== null && metrics.cutoffs.includes(target.k)) {
    if (metricValue(metrics, target) >= target.atLeast) return false;
  }
  const state = stateOf(checkpoint, options);
  // It ended with work left, as it had lost its last device.
  if (policy.devices(state).length === 0) return true;
  const [, commands] = policy.resume(state, null);
  return !commands.some(({ type }) => type === "stop");
}

function differencesOf(record: CheckpointRecord, run: SameRun): readonly string[] {
  const { algorithm, shape, optimizer, seed, fingerprints } = record;
  const different: string[] = [];
  const compare = (name: string, a: unknown, b: unknown) => {
    if (!isDeepStrictEqual(a, b)) different.push(name);
  };
  compare(`the algorithm (${algorithm} there)`, algorithm, run.policy.name);
  compare("the network", shape, { ...run.shape, hidden: [...run.shape.hidden] });
  compare(`the optimiser (${optimizer?.name ?? "sgd"} there)`, optimizer, run.rule);
  compare(`the seed (${seed} there)`, seed, run.seed);
  compare("the training data", fingerprints.train, sumOf(run.train.buffer));
  const evaluation = run.evaluation && sumOf(run.evaluation.buffer);
  compare("the evaluation data", fingerprints.evaluation, evaluation);
  const configuration = run.checkpoints?.configuration;
  if (configuration === undefined) return different;
  const now = fingerprintConfiguration(configuration);
  return [...different, ...differences(fingerprints.configuration, now)];
}

/** Whoever asks before the run begins has it summed up once. */
const sums = new WeakMap<SharedArrayBuffer, string>();

/** The fingerprint of a data set, whose buffer nobody changes. */
function sumOf(buffer: SharedArrayBuffer): string {
  const sum = sums.get(buffer) ?? fingerprintOf(buffer);
  sums.set(buffer, sum);
  return sum;
}

/** The policy's state, which it has checked. @throws TrainerError CHECKPOINT_FORMAT */
function stateOf(
  { path, record }: Pick<Checkpoint, "path" | "record">,
  { policy, train, shape }: Pick<TrainOptions, "policy" | "train" | "shape">,
): unknown {
  const parameters = parameterLayout(shape).parameterCount;
  try {
    return policy.checkState(record.policy, { rows: train.rows, parameters });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SchedulerError") throw error;
    const message = `the checkpoint ${path} can't be used: ${error.message}`;
    throw new TrainerError("CHECKPOINT_FORMAT", message, { cause: error });
  }
}

/**
 * Fills a run's models from the checkpoint.
 *
 * @param names - the models that there are.
 * @returns those that were filled.
 * @throws TrainerError CHECKPOINT_FORMAT, CHECKPOINT_DAMAGED, CHECKPOINT_UNREADABLE
 */
export async function loadModels(
  { checkpoint, record, exact }: Resumption,
  models: Pick<ModelTable, "memory">,
  names: readonly ModelName[],
): Promise<readonly ModelName[]> {
  const kept = record.models.filter(
    ({ name }) => names.includes(name) && (exact || ownerOf(name) === null),
  );
  for (const { name, updates } of kept) {
    const memory = models.memory(name);
    await checkpoint.load(name, memory);
    memory.updates[0] = updates;
  }
  const filled = kept.map(({ name }) => name);
  if (!names.includes("previous") || filled.includes("previous")) return filled;
  // Without momentum until now: a model that has not moved has none.
  const [global, previous] = [models.memory("global"), models.memory("previous")];
  copyArrays(global, previous);
  previous.updates[0] = global.updates[0]!;
  return filled;
}

/** What the policy goes on with. @throws SchedulerError INVALID_SETUP */
export function resumeWith(
  policy: SameRun["policy"],
  { state, exact }: Resumption,
  devices: readonly DeviceInfo[],
): Transition<unknown> {
  return policy.resume(state, exact ? null : devices);
}
