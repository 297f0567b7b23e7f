import { globalState } from "../common/models.js";
import { sum } from "../common/numbers.js";
import type { Term } from "../contract.js";
import { countRows } from "../row-queue.js";
import type { RoundMerge, RoundResult } from "./algorithm.js";

/**
 * `next ← w̄ − η_t/B · Σ g_i` with B rows in a full round: the mean gradient of a full round, and
 * less by as much where the round is shorter. Since g_i sums over rows, this weighs devices by
 * their batches.
 */
export function gradientMerge({ devices, learningRate, fullRows }: RoundResult): RoundMerge {
  const total = sum(devices, ({ rows }) => countRows(rows));
  const gradients = devices
    .filter(({ updates }) => updates > 0)
    .map(({ id }): Term => ({ model: `gradient:${id}:0`, coefficient: -learningRate / fullRows }));
  const terms: readonly Term[] = [{ model: "global", coefficient: 1 }, ...gradients];
  return {
    stages: [[{ target: "next", terms, stateTerms: globalState }]],
    weights: devices.map(({ rows }) => countRows(rows) / total),
  };
}
