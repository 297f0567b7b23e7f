import { expect, test } from "vitest";
import { fillPermutation } from "@heterosgd/sparse";
import { createPermutations } from "./permutations.js";

const ROWS = 20;
const range = (epoch: number) => ({ epoch, start: 0, count: 4 });

function expected(epoch: number): Uint32Array {
  const order = new Uint32Array(ROWS);
  fillPermutation(order, 7, epoch);
  return order;
}

function start() {
  const slots: Uint32Array[] = [];
  const permutations = createPermutations(ROWS, 7, (order) => slots.push(order));
  return { slots, permutations };
}

test("each range refers to its epoch's permutation", () => {
  const { slots, permutations } = start();
  const [first, second] = permutations.hold([range(0), range(1)]);
  expect(slots[first!.permutation]).toEqual(expected(0));
  expect(slots[second!.permutation]).toEqual(expected(1));
});

test("a slot is filled anew only once nothing holds it", () => {
  const { slots, permutations } = start();
  permutations.hold([range(0)]);
  permutations.hold([range(1)]);
  permutations.release([range(0)]);
  const [third] = permutations.hold([range(2)]);
  expect(slots).toHaveLength(2);
  expect(slots[third!.permutation]).toEqual(expected(2));
});

test("while everything is held, a further epoch gets a slot of its own", () => {
  const { slots, permutations } = start();
  const spans = [0, 1, 2, 3].map((epoch) => permutations.hold([range(epoch)])[0]!);
  expect(slots).toHaveLength(4);
  spans.forEach(({ permutation }, epoch) => expect(slots[permutation]).toEqual(expected(epoch)));
});

test("an epoch comes back in the same order after its slot was used for another", () => {
  const { slots, permutations } = start();
  for (const epoch of [0, 1, 2, 3]) {
    permutations.hold([range(epoch)]);
    permutations.release([range(epoch)]);
  }
  const [again] = permutations.hold([range(0)]);
  expect(slots).toHaveLength(2);
  expect(slots[again!.permutation]).toEqual(expected(0));
});
