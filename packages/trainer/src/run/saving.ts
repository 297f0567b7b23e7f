/** What a run does about checkpoints, whatever its devices are. */
import { basename } from "node:path";
import type { CheckpointDevice } from "../checkpoint/record.js";
import type { CheckpointWriterApi, WriterSetup } from "../checkpoint/writer-api.js";
import type { CoordinateObserver } from "../coordinator/coordinate.js";
import { createCheckpointer, type Checkpointer } from "./checkpointer.js";
import type { Resumption, SameRun } from "./resume.js";
import type { ResumeRecord, UndatedEvent } from "./run-event.js";
import { createRunFacts, type RunFactsKeeper } from "./run-facts.js";
import type { StopWatch } from "./stop-rules.js";
import { recordedBy, type Tally } from "./tally.js";

export interface SavingOptions {
  readonly run: SameRun;
  readonly resumption: Resumption | null;
  readonly tally: Tally;
  readonly stop: StopWatch;
  /** By id, those that are to join later too. */
  readonly devices: readonly CheckpointDevice[];
  readonly seconds: () => number;
  readonly emit: (event: UndatedEvent) => void;
  /** Asks the policy for a checkpoint. */
  readonly save: () => void;
  readonly start: (setup: WriterSetup) => CheckpointWriterApi;
}

export interface Saving {
  readonly known: Omit<RunFactsKeeper, "event" | "facts">;
  /** Null where no checkpoints are wanted. */
  readonly checkpointer: Checkpointer | null;
  /** Records what the coordinator tells. */
  readonly observer: CoordinateObserver;
}

export function createSaving(options: SavingOptions): Saving {
  const { run, resumption, tally, emit } = options;
  const known = createRunFacts(
    tally,
    options.stop,
    options.devices,
    resumption?.record.metrics ?? null,
    options.seconds,
  );
  const checkpointer =
    run.checkpoints === undefined
      ? null
      : createCheckpointer({
          checkpoints: run.checkpoints,
          run,
          start: options.start,
          facts: () => known.facts(),
          save: options.save,
          onWritten({ path, step, bytes, seconds, notRemoved }) {
            emit({ type: "saved", checkpoint: basename(path), step, bytes, seconds, notRemoved });
          },
          onFailed(error) {
            const reason = error instanceof Error ? error.message : String(error);
            emit({ type: "not-saved", reason });
          },
        });
  const recorded = recordedBy(tally, emit);
  return {
    known,
    checkpointer,
    observer: {
      ...recorded,
      onEvent(event) {
        known.event(event);
        recorded.onEvent?.(event);
      },
      onCommand: (command, state) => checkpointer?.onCommand(command, state),
    },
  };
}

/** How a run's first record begins. */
export function beginning(
  resumption: Resumption | null,
):
  | { readonly type: "start" }
  | Pick<ResumeRecord, "type" | "checkpoint" | "step" | "rows" | "merges" | "exact"> {
  if (resumption === null) return { type: "start" };
  const { checkpoint, exact, record } = resumption;
  const { step, rows, merges } = record;
  return { type: "resume", checkpoint: basename(checkpoint.path), step, rows, merges, exact };
}

/** What a run that goes on begins with. */
export function earlierPart(resumption: Resumption | null): {
  readonly rows: number;
  readonly merges: number;
  readonly steps: number;
  readonly seconds: number;
} {
  if (resumption === null) return { rows: 0, merges: 0, steps: 0, seconds: 0 };
  const { rows, merges, step, seconds } = resumption.record;
  return { rows, merges, steps: step, seconds };
}
