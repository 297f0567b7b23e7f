/** Records for tests: nothing that was run. */
import type { RunRecord } from "./run-record.js";

export interface MadeUpRecord {
  readonly set?: string;
  readonly algorithm?: string;
  readonly seed?: number;
  readonly tuned?: RunRecord["tuned"];
  /** P@1 at second 1, 2, 3 …; null for a run that diverged. */
  readonly precision: readonly number[] | null;
}

export function madeUpRecord({
  set = "delicious",
  algorithm = "elastic",
  seed = 1,
  tuned = {},
  precision,
}: MadeUpRecord): RunRecord {
  const device = (name: string, updates: number, waiting: number) => ({
    device: 0,
    name,
    kernels: "plain",
    rows: 0,
    updates,
    rowsPerSecond: 0,
    batchRows: null,
    weight: null,
    leastWeight: null,
    staleness: null,
    lost: null,
    replaces: null,
    usage: { training: 10 - waiting, merging: 0, evaluating: 0, waiting },
  });
  return {
    format: 1,
    suite: "made-up",
    set,
    platform: "four",
    algorithm,
    stage: "test",
    seed,
    tuned,
    file: `test_${set}_four_${algorithm}_seed=${seed}.json`,
    verb: "simulate",
    command: "heterosgd simulate",
    environment: { node: "v1", processor: "p", cores: 2, memoryGiB: 1, load: 0, commit: "c" },
    versions: { heterosgd: "1.0.0", node: "1" },
    startedAt: "2000-01-01T00:00:00.000Z",
    wallSeconds: 1,
    jobs: 1,
    diverged: precision === null ? "error: training has diverged [DIVERGED]" : null,
    result:
      precision === null
        ? null
        : {
            reason: "epochs",
            cutoffs: [1],
            curve: precision.map((value, i) => ({
              at: i + 1,
              rows: 100 * (i + 1),
              precision: [value],
              ndcg: [value],
              loss: 1 / (i + 1),
            })),
            devices: [device("gpu", 30, 1), device("gpu@0.5", 10, 4)],
            trainRows: 100,
            seconds: precision.length,
          },
  };
}
