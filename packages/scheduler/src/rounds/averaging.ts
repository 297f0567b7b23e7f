import { replicaTerms, replicasOf } from "../common/models.js";
import type { RunSettings } from "../common/run.js";
import type { RoundAlgorithm, RoundMerge, RoundResult } from "./algorithm.js";

/** Replicas that make equally many steps, then are averaged: Elastic SGD and Local SGD alike. */
export function averaging(
  name: string,
  settings: RunSettings,
  batchRows: number,
  turns: RoundAlgorithm["turns"],
): RoundAlgorithm {
  return {
    name,
    settings,
    batchRows,
    maxBatchRows: batchRows,
    models: (devices) => ["global", "next", ...replicasOf(devices)],
    work: "replica",
    keepsReplicas: false,
    turns,
    merge: mean,
    rotation: ["global", "next"],
  };
}

/** `next ← Σ w_i/n` over the replicas that have been trained. */
function mean({ devices }: RoundResult): RoundMerge {
  const trained = devices.filter(({ updates }) => updates > 0);
  const terms = replicaTerms(trained, 1 / trained.length);
  return {
    stages: [[{ target: "next", terms, stateTerms: terms }]],
    weights: devices.map(({ updates }) => (updates > 0 ? 1 / trained.length : 0)),
  };
}
