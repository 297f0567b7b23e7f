/** Has a run's checkpoints written while it goes on: one at a time, each from a copy of the models. */
import { optimizerStateArrays, parameterLayout } from "@heterosgd/model";
import type { CheckpointModels, Command, ModelName } from "@heterosgd/scheduler";
import { fingerprintConfiguration } from "../checkpoint/fingerprint.js";
import type { ModelArrays } from "../checkpoint/model-names.js";
import type { CheckpointRecord, EventsPosition } from "../checkpoint/record.js";
import type { CheckpointWriterApi, WriteReply, WriterSetup } from "../checkpoint/writer-api.js";
import { stateArraysOf } from "../coordinator/model-table.js";
import type { Snapshots } from "../coordinator/snapshots.js";
import { TrainerError } from "../errors.js";
import type { TrainOptions } from "./train.js";

export interface CheckpointOptions {
  /** Where they lie, each in a folder `step-N`; made if it is missing. */
  readonly folder: string;
  /**
   * Seconds of training between two of them, besides those that the policy takes by itself and the one at
   * the end of the run. Default: none besides.
   */
  readonly everySeconds?: number;
  /** How many of the newest are kept, besides that of the best model. At least 1. Default 2. */
  readonly keep?: number;
  /** What the model files say besides: names of labels, notes. */
  readonly labelNames?: readonly string[];
  readonly info?: Readonly<Record<string, string>>;
  /** Name and version of the program, for messages. Default "". */
  readonly program?: string;
  /**
   * Members of a configuration that must be the same when the run is resumed, by name; only fingerprints of
   * them are kept. Default: none.
   */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /**
   * Sees to it that all events until now are on the disk, and says where they end. Default: no event stream
   * belongs to the checkpoints.
   */
  readonly position?: () => Promise<EventsPosition>;
}

/** What a run knows of itself at the moment of a checkpoint. */
export type RunFacts = Pick<
  CheckpointRecord,
  "step" | "devices" | "rows" | "merges" | "seconds" | "metrics" | "patience"
>;

export interface CheckpointerOptions {
  readonly checkpoints: CheckpointOptions;
  readonly run: Pick<TrainOptions, "train" | "evaluation" | "shape" | "rule" | "seed" | "policy">;
  /** Starts what writes, when it is first needed. */
  readonly start: (setup: WriterSetup) => CheckpointWriterApi;
  readonly facts: () => RunFacts;
  /** Asks the policy for a checkpoint. */
  readonly save: () => void;
  readonly onWritten: (written: WriteReply) => void;
  /** The run goes on, and all earlier checkpoints are as they were. */
  readonly onFailed: (error: unknown) => void;
}

export interface Checkpointer extends Snapshots {
  taken(updates: readonly number[], executor: unknown): void;
  /** Asks the policy for a checkpoint; while one is being written, once that is done. */
  request(): void;
  /** To be told of every command before it is carried out. */
  onCommand(command: Command, state: unknown): void;
  /** Resolves once nothing is being written. */
  idle(): Promise<void>;
  /** Writes the models of the `stop`, which nobody changes any more. */
  finish(
    memory: (name: ModelName) => ModelArrays & { readonly updates: Int32Array },
    executor: unknown,
  ): Promise<void>;
  /** Waits until nothing is being written, and ends what writes. */
  close(): Promise<void>;
}

/** A checkpoint whose models are still to come. */
interface Begun {
  readonly models: CheckpointModels;
  readonly policy: unknown;
  readonly facts: RunFacts;
  readonly events: Promise<EventsPosition | null>;
}

/** @throws TrainerError BAD_OPTION */
export function requireCheckpointOptions({ keep = 2, everySeconds }: CheckpointOptions): void {
  if (!(Number.isSafeInteger(keep) && keep >= 1)) {
    const message = `${keep} checkpoints are to be kept; expected a whole number of at least 1`;
    throw new TrainerError("BAD_OPTION", message);
  }
  if (everySeconds !== undefined && !(everySeconds > 0)) {
    const message = `a checkpoint is wanted every ${everySeconds} s; expected a number above 0`;
    throw new TrainerError("BAD_OPTION", message);
  }
}

export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  const { checkpoints, run, facts, save } = options;
  const { length } = parameterLayout(run.shape);
  const configuration = fingerprintConfiguration(checkpoints.configuration ?? {});
  const pool = new Map<ModelName, ModelArrays>();
  let writer: CheckpointWriterApi | undefined;
  let begun: Begun | null = null;
  let writing: Promise<void> | null = null;
  let isWanted = false;
  let isOver = false;

  /** Memory for a copy of the model; that of models that are no more is given back. */
  function room(models: readonly ModelName[], states: number): readonly ModelArrays[] {
    for (const name of pool.keys()) if (!models.includes(name)) pool.delete(name);
    const array = () => new Float32Array(new SharedArrayBuffer(length * 4));
    return models.map((name) => {
      const found = pool.get(name) ?? {
        parameters: array(),
        state: Array.from({ length: stateArraysOf(name, states) }, array),
      };
      pool.set(name, found);
      return found;
    });
  }

  async function write(
    { models: names, policy, facts: known, events }: Begun,
    models: readonly ModelArrays[],
    updates: readonly number[],
    executor: unknown,
  ): Promise<void> {
    const {
      train,
      evaluation,
      shape,
      rule,
      seed,
      policy: { name: algorithm },
    } = run;
    try {
      const record = {
        program: checkpoints.program ?? "",
        ...known,
        algorithm,
        policy,
        shape,
        optimizer: rule,
        seed,
        trainRows: train.rows,
        evaluationRows: evaluation?.rows ?? 0,
        models: names.map((name, i) => ({ name, updates: updates[i]! })),
        executor,
        events: await events,
        fingerprints: { configuration },
      };
      writer ??= options.start({
        folder: checkpoints.folder,
        keep: checkpoints.keep ?? 2,
        train: train.buffer,
        evaluation: evaluation?.buffer ?? null,
        labelNames: checkpoints.labelNames,
        info: checkpoints.info,
      });
      options.onWritten(await writer.write({ record, models }));
    } catch (error) {
      options.onFailed(error);
    }
  }

  function beginWriting(work: Promise<void>): void {
    writing = work.then(() => {
      writing = null;
      if (!isWanted || isOver) return;
      isWanted = false;
      save();
    });
    // What those who were told throw ends the run when it is next waited for.
    writing.catch(() => undefined);
  }

  return {
    request() {
      if (writing === null) save();
      else isWanted = true;
    },
    onCommand(command, state) {
      if (command.type !== "checkpoint" && command.type !== "stop") return;
      isOver ||= command.type === "stop";
      begun = null;
      if (writing !== null && command.type === "checkpoint") {
        // Nothing waits for the disk: it is taken once that is done.
        isWanted = true;
        return;
      }
      const events = checkpoints.position?.() ?? Promise.resolve(null);
      begun = {
        models: command.models,
        policy: state,
        facts: facts(),
        events: events.catch(() => null),
      };
    },
    begin: (models) => (begun === null ? null : room(models, optimizerStateArrays(run.rule))),
    taken(updates, executor) {
      if (begun === null) return;
      const models = begun.models.map((name) => pool.get(name)!);
      beginWriting(write(begun, models, updates, executor));
      begun = null;
    },
    idle: async () => void (await writing),
    async finish(memory, executor) {
      await writing;
      if (begun === null) return;
      const models = begun.models.map(memory);
      const updates = models.map((model) => model.updates[0]!);
      const arrays = models.map(({ parameters, state }) => ({ parameters, state }));
      await write(begun, arrays, updates, executor);
    },
    async close() {
      isOver = true;
      await writing;
      await writer?.close();
    },
  };
}
