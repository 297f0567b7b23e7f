/** Keeps what a run knows of itself, for its checkpoints. */
import type { Metrics } from "@heterosgd/model";
import type { CheckpointDevice } from "../checkpoint/record.js";
import { plainKernels } from "../device/device-kernels.js";
import type { RunFacts } from "./checkpointer.js";
import type { RecordedEvent } from "./run-event.js";
import type { StopWatch } from "./stop-rules.js";
import type { Tally } from "./tally.js";

export interface RunFactsKeeper {
  /** Every event that the policy gets. */
  event(event: RecordedEvent): void;
  /** The global model was evaluated. */
  evaluated(metrics: Metrics): void;
  /** Of the last evaluation. */
  metrics(): Metrics | null;
  /** As they are now. */
  facts(): RunFacts;
}

/**
 * @param devices - by id, those that are to join later too.
 * @param metrics - of the model that the run begins with, if it was evaluated.
 * @param seconds - of training so far.
 */
export function createRunFacts(
  tally: Tally,
  stop: StopWatch,
  devices: readonly CheckpointDevice[],
  metrics: Metrics | null,
  seconds: () => number,
): RunFactsKeeper {
  const known = [...devices];
  const modelNow = () => `${tally.rows()} ${tally.merges()}`;
  let latest = { metrics, model: modelNow() };
  return {
    event(event) {
      if (event.type === "joined") {
        const { device: info, spec = "", runs = plainKernels } = event;
        const there = { ...(known[info.id] ?? { spec, runs, info }), isThere: true };
        known[info.id] = there;
      }
      if (event.type === "lost") known[event.device] = { ...known[event.device]!, isThere: false };
    },
    evaluated: (found) => (latest = { metrics: found, model: modelNow() }),
    metrics: () => latest.metrics,
    facts: () => ({
      step: tally.steps(),
      devices: [...known],
      rows: tally.rows(),
      merges: tally.merges(),
      seconds: seconds(),
      metrics: latest.model === modelNow() ? latest.metrics : null,
      patience: stop.state(),
    }),
  };
}
