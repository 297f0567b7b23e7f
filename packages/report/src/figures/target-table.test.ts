import { describe, expect, test } from "vitest";
import type { Contestant } from "../series/contestants.js";
import { ratiosOf, targetsTable, type Target } from "./target-table.js";

/** P@1 at second 1, 2, 3 …, times a slowness. */
function contestant(
  name: string,
  runs: readonly (readonly [seed: number, precision: readonly number[], slowness?: number])[],
): Contestant {
  return {
    name,
    isSimulated: false,
    runs: runs.map(([seed, precision, slowness = 1]) => ({
      seed,
      seconds: precision.length * slowness,
      devices: [],
      curve: precision.map((value, i) => ({
        at: slowness * (i + 1),
        rows: i + 1,
        precision: value,
        loss: null,
      })),
    })),
  };
}

const half: Target = { label: "half", of: () => 0.5 };

describe("the table of times to targets", () => {
  test("has times and ratios of the medians, seed by seed", () => {
    const fast = contestant("fast", [
      [1, [0.5, 0.6]],
      [2, [0.4, 0.5]],
      [3, [0.5]],
    ]);
    const slow = contestant("slow", [
      [3, [0.5], 4],
      [1, [0.5], 2],
      [2, [0.5], 3],
    ]);
    const [figure] = targetsTable([fast, slow], [half]);
    expect(figure!.table.columns.map(({ label }) => label)).toEqual([
      "target",
      "run",
      "best P@1",
      "time to the target",
      "speed-up over fast",
      "speed-up over slow",
    ]);
    expect(figure!.table.rows).toEqual([
      ["half", "fast", "0.5000 (0.5000–0.6000)", "1.00 s (1.00 s–2.00 s)", "1", "2.00 (1.50–4.00)"],
      ["half", "slow", "0.5000", "3.00 s (2.00 s–4.00 s)", "0.50 (0.25–0.67)", "1"],
    ]);
  });

  test("says who never gets there", () => {
    const [good, bad] = [contestant("good", [[1, [0.5]]]), contestant("bad", [[1, [0.1, 0.2]]])];
    expect(targetsTable([good, bad], [half])[0]!.table.rows.map((row) => row.slice(3))).toEqual([
      ["1.00 s", "1", "–"],
      ["never", "0.00", "1"],
    ]);
  });

  test("compares medians where seeds differ", () => {
    const a = contestant("a", [
      [1, [0.5]],
      [2, [0.5], 3],
      [3, [0.5], 2],
    ]);
    const b = contestant("b", [[9, [0.5], 8]]);
    expect(ratiosOf(a, b, half)).toEqual([4]);
  });

  test("takes what all reach for targets where none is told", () => {
    const a = contestant("a", [[1, [0.5, 0.8]]]);
    const b = contestant("b", [[1, [0.3, 0.6]]]);
    const targets = targetsTable([a, b], [])[0]!.table.rows.map(([target]) => target);
    expect([...new Set(targets)]).toEqual([
      "P@1 0.5400, 90 % of the lowest best",
      "P@1 0.6000, the lowest best",
    ]);
    const alone = targetsTable([a], [])[0]!.table.rows;
    expect(alone.map((row) => row.at(-1))).toEqual([
      "1.00 s",
      "2.00 s",
      "2.00 s",
      "2.00 s",
      "2.00 s",
    ]);
  });

  test("is not there where nothing was evaluated", () => {
    expect(targetsTable([contestant("a", [[1, []]])], [half])).toEqual([]);
    expect(targetsTable([], [half])).toEqual([]);
  });
});
