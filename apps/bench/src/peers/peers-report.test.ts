import { expect, test } from "vitest";
import { beatenLines, peerCells, targetOf, type PeerResult } from "./peers-report.js";

/** A run whose one epoch came to a P@1 after so many seconds. */
const outcome = (
  seconds: number,
  precision: number | null,
  { peak = 2 ** 20, stopped = false } = {},
) => ({
  milestones: [{ rows: 1000, seconds, precision }],
  peak,
  stopped,
});
const result = (name: string, outcomes: PeerResult["outcomes"]): PeerResult => ({
  name,
  version: name,
  threads: 2,
  rate: 0.01,
  outcomes,
});
const ours = result("heterosgd", [outcome(1, 0.5), outcome(2, 0.6), outcome(4, 0.5)]);

test("all are timed to nearly the best that heterosgd comes to", () => {
  expect(targetOf({ set: "s", results: [ours] })).toBeCloseTo(0.49, 12);
});

test("a row has medians, spreads and ratios round by round", () => {
  const other = result("other", [outcome(2, 0.55), outcome(4, 0.55), outcome(8, 0.55)]);
  const { head, rows } = peerCells({ set: "s", results: [ours, other] });
  expect(head[7]).toBe("time to P@1 ≥ 0.490");
  expect(rows[0]).toEqual([
    "heterosgd",
    "2",
    "0.01",
    "3",
    "500 (250–1,000)",
    "1",
    "0.500 (0.500–0.600)",
    "2.00 s (1.00 s–4.00 s)",
    "1",
    "1 MiB",
    "1",
  ]);
  // Every round is half as fast, however fast the round was.
  expect(rows[1]![5]).toBe("0.50");
  expect(rows[1]![8]).toBe("2.0");
});

test("who never gets there takes for ever, who was stopped leaves it open", () => {
  const never = result("never", [outcome(1, 0.1), outcome(1, 0.1), outcome(1, 0.5)]);
  const stopped = result("stopped", [outcome(1, null, { stopped: true })]);
  const { rows } = peerCells({ set: "s", results: [ours, never, stopped] });
  expect(rows[1]![7]).toBe("never (1.00 s–never)");
  expect(rows[1]![8]).toBe("never (0.25–never)");
  expect(rows[2]![0]).toBe("stopped (stopped)");
  expect([rows[2]![6], rows[2]![7], rows[2]![8]]).toEqual(["–", "–", "–"]);
  expect(rows[2]![3]).toBe("1");
});

test("whoever beats heterosgd is named, heterosgd's other row is not", () => {
  const quick = result("quick", [outcome(0.5, 0.5), outcome(0.5, 0.5)]);
  const good = result("good", [outcome(9, 0.9, { peak: 2 ** 19 })]);
  const own = result("heterosgd, a device a core", [outcome(0.1, 0.9)]);
  expect(beatenLines({ set: "s", results: [ours, own, quick, good] })).toEqual([
    "s: more rows a second than heterosgd: quick",
    "s: the P@1 sooner than heterosgd: quick",
    "s: a higher P@1 than heterosgd: good",
    "s: less memory than heterosgd: good",
  ]);
  expect(beatenLines({ set: "s", results: [ours] })).toEqual([]);
});
