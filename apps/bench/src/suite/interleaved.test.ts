import { expect, test } from "vitest";
import { interleaved } from "./interleaved.js";

const runs = (set: string, algorithm: string, ...seeds: readonly number[]) =>
  seeds.map((seed) => ({ set, platform: "p", algorithm, seed }));
const order = (...cells: Parameters<typeof interleaved>[0]) =>
  interleaved(cells as ReturnType<typeof runs>[])
    .map(({ set, algorithm, seed }) => `${set}${algorithm}${seed}`)
    .join(" ");

test("each algorithm runs once a round, every other round backwards, set by set", () => {
  const cells = ["s", "t"].flatMap((set) => ["a", "b", "c"].map((it) => runs(set, it, 1, 2, 3)));
  expect(order(...cells)).toBe(
    "sa1 sb1 sc1 sc2 sb2 sa2 sa3 sb3 sc3 ta1 tb1 tc1 tc2 tb2 ta2 ta3 tb3 tc3",
  );
});

test("who has fewer runs has them spread over the rounds, and none is lost", () => {
  expect(order(runs("s", "a", 1, 2, 3, 4), runs("s", "b", 1, 2), runs("s", "c"))).toBe(
    "sa1 sb1 sa2 sa3 sb2 sa4",
  );
});
