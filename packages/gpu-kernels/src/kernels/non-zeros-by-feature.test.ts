import { createRandom } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { createSortRoom } from "./non-zeros-by-feature.js";

const seed = Math.floor(Math.random() * 2 ** 32);
const random = createRandom(seed, 0);
const room = createSortRoom();

/** Features below `bound`, some of them in many rows, and rows without any. */
function randomRows(rows: number, bound: number) {
  const offsets = [0];
  const indices: number[] = [];
  for (let row = 0; row < rows; row++) {
    const own = new Set<number>();
    for (let i = random.nextBelow(9); i > 0; i--) own.add(random.nextBelow(bound));
    if (row % 2 === 0) own.add(bound - 1);
    indices.push(...[...own].toSorted((a, b) => a - b));
    offsets.push(indices.length);
  }
  return {
    offsets: Uint32Array.from(offsets),
    indices: Uint32Array.from(indices),
    values: Float32Array.from(indices, () => random.nextFloat()),
  };
}

test.each([1, 5, 2048, 2049, 700_000, 2 ** 32])(
  `non-zeros come by ascending feature, then row, with features below %d and ${seed} as seed`,
  (bound) => {
    for (const rows of [1, 2, 50]) {
      const { offsets, indices, values } = randomRows(rows, bound);
      const count = indices.length;
      const out = {
        features: new Uint32Array(count),
        starts: new Uint32Array(count + 1),
        entryRows: new Uint32Array(count),
        entryValues: new Float32Array(count),
      };
      const features = room.sort(rows, offsets, indices, values, out);

      const expected = Array.from(indices, (feature, i) => ({
        feature,
        row: offsets.findIndex((_, row) => i < offsets[row + 1]!),
        value: values[i],
      })).toSorted((a, b) => a.feature - b.feature || a.row - b.row);
      const own = [...new Set(expected.map(({ feature }) => feature))];
      expect([...out.features.subarray(0, features)]).toEqual(own);
      const actual = own.flatMap((feature, slot) =>
        Array.from({ length: out.starts[slot + 1]! - out.starts[slot]! }, (_, i) => {
          const entry = out.starts[slot]! + i;
          return { feature, row: out.entryRows[entry], value: out.entryValues[entry] };
        }),
      );
      expect(actual).toEqual(expected);
    }
  },
);

test("a batch without non-zeros has no features", () => {
  const starts = new Uint32Array(1).fill(7);
  const none = new Uint32Array(0);
  const out = { features: none, starts, entryRows: none, entryValues: new Float32Array(0) };
  expect(room.sort(3, new Uint32Array(4), none, out.entryValues, out)).toBe(0);
  expect([...starts]).toEqual([0]);
});
