import { expect, test } from "vitest";
import { interleave, orderOf } from "./rounds.js";

test("everybody runs in every round, every other round backwards", async () => {
  expect(orderOf(0, 3)).toEqual([0, 1, 2]);
  expect(orderOf(1, 3)).toEqual([2, 1, 0]);
  const order: string[] = [];
  const contestant = (name: string) => ({ name, threads: 1, run: () => void order.push(name) });
  const timings = await interleave([contestant("a"), contestant("b")], {
    rounds: 2,
    threadSeconds: null,
    seconds: 0,
    onRound: (round) => order.push(`round ${round}`),
  });
  // Two that do not count, then one a round.
  expect(order).toEqual(["a", "a", "b", "b", "round 0", "a", "b", "round 1", "b", "a"]);
  expect(timings.map((all) => all.length)).toEqual([2, 2]);
  expect(timings[0]![0]!.thread).toBeNull();
});

test("a figure is the time of one run, and processor time is told apart from the clock's", async () => {
  let spent = 0;
  const contestant = { name: "busy", threads: 1, run: () => void (spent += 0.25) };
  const [timings] = await interleave([contestant], {
    rounds: 3,
    threadSeconds: () => spent,
    seconds: 1e-3,
  });
  for (const { thread, wall } of timings!) {
    expect(thread).toBeCloseTo(0.25, 9);
    expect(wall).toBeLessThan(0.1);
  }
});
