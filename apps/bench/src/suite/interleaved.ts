import { orderOf } from "../rounds.js";
import { groupsOf } from "./groups.js";
import type { CellName } from "./plan.js";

/**
 * Runs in the order in which they are run: of the cells of a data set and platform, each has one in
 * every round, and every other round goes backwards. A slow phase of the machine thus falls on all
 * that are compared, and nobody always runs in the wake of the same one.
 *
 * @param cells - each cell's runs, the cells in the suite's order. One with fewer runs than others
 *   has its turns spread over all rounds.
 */
export function interleaved<T extends CellName>(cells: readonly (readonly T[])[]): readonly T[] {
  const withRuns = cells.flatMap((runs) => {
    const [first] = runs;
    return first === undefined ? [] : [{ set: first.set, platform: first.platform, runs }];
  });
  return groupsOf(withRuns).flatMap((group) => {
    const rounds = Math.max(...group.map(({ runs }) => runs.length));
    return Array.from({ length: rounds }, (_, round) =>
      orderOf(round, group.length).flatMap((i) => {
        const { runs } = group[i]!;
        const before = Math.floor((round * runs.length) / rounds);
        return runs.slice(before, Math.floor(((round + 1) * runs.length) / rounds));
      }),
    ).flat();
  });
}
