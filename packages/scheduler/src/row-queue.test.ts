import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RowRange } from "./contract.js";
import {
  countRows,
  createRowQueue,
  epochsTaken,
  giveBackRows,
  rowsLeft,
  rowsLeftInEpoch,
  takeRows,
  withEpochs,
} from "./row-queue.js";
import type { RowQueue } from "./row-queue.js";

const range = (epoch: number, start: number, count: number): RowRange => ({ epoch, start, count });

function takeAll(queue: RowQueue, count: number): readonly (readonly RowRange[])[] {
  const batches: (readonly RowRange[])[] = [];
  for (let current = queue; ;) {
    const [next, rows] = takeRows(current, count);
    if (rows.length === 0) return batches;
    batches.push(rows);
    current = next;
  }
}

describe("a row queue", () => {
  it("hands out an epoch in order, its last batch short, and goes on with the next epoch", () => {
    expect(takeAll(createRowQueue(5, 2), 2)).toEqual([
      [range(0, 0, 2)],
      [range(0, 2, 2)],
      [range(0, 4, 1)],
      [range(1, 0, 2)],
      [range(1, 2, 2)],
      [range(1, 4, 1)],
    ]);
  });

  it("never ends without a limit of epochs, and survives JSON", () => {
    const endless = JSON.parse(JSON.stringify(createRowQueue(3, Infinity))) as RowQueue;
    expect(rowsLeft(endless)).toBe(Infinity);
    const later = { ...endless, epoch: 1_000_000 };
    expect(takeRows(later, 2)[1]).toEqual([range(1_000_000, 0, 2)]);
  });

  it("gives nothing beyond an end that was moved before the cursor, and all of it after it was moved back", () => {
    const [queue] = takeRows(takeRows(createRowQueue(4, 3), 4)[0], 3);
    const back = giveBackRows(queue, [range(0, 1, 1), range(1, 0, 1)]);
    const short = withEpochs(back, 1);
    expect(rowsLeft(short)).toBe(1);
    const [rest, rows] = takeRows(short, 9);
    expect(rows).toEqual([range(0, 1, 1)]);
    expect([rowsLeft(rest), rowsLeftInEpoch(rest), takeRows(rest, 9)[1]]).toEqual([0, 0, []]);
    expect(rowsLeft(withEpochs(rest, 3))).toBe(1 + 1 + 4);
    expect(rowsLeft(withEpochs(rest, Infinity))).toBe(Infinity);
  });

  it("hands out returned rows first, sorted, joined, and several pieces as one batch", () => {
    const [queue] = takeRows(createRowQueue(20, 1), 12);
    const back = giveBackRows(queue, [range(0, 8, 2), range(0, 1, 2), range(0, 3, 1)]);
    expect(back.returned).toEqual([range(0, 1, 3), range(0, 8, 2)]);
    expect(rowsLeft(back)).toBe(8 + 5);
    const [next, rows] = takeRows(back, 4);
    expect(rows).toEqual([range(0, 1, 3), range(0, 8, 1)]);
    expect(takeRows(next, 4)[1]).toEqual([range(0, 9, 1), range(0, 12, 3)]);
  });

  it("joins returned rows with those at the cursor where they adjoin", () => {
    const [queue, rows] = takeRows(createRowQueue(10, 1), 4);
    expect(takeRows(giveBackRows(queue, rows), 6)[1]).toEqual([range(0, 0, 6)]);
  });

  it("keeps returned rows of an older epoch out of the batches of a newer one", () => {
    const [queue] = takeRows(takeRows(createRowQueue(4, 2), 4)[0], 1);
    const back = giveBackRows(queue, [range(0, 3, 1), range(1, 0, 1)]);
    expect(epochsTaken(back)).toBe(0);
    expect(takeAll(back, 3)).toEqual([[range(0, 3, 1)], [range(1, 0, 3)], [range(1, 3, 1)]]);
  });

  it("hands out rows that come back after everything else was taken", () => {
    const [queue, rows] = takeRows(createRowQueue(3, 1), 3);
    expect(rowsLeft(queue)).toBe(0);
    expect(epochsTaken(queue)).toBe(1);
    expect(takeRows(queue, 1)[1]).toEqual([]);
    expect(takeAll(giveBackRows(queue, rows), 2)).toEqual([[range(0, 0, 2)], [range(0, 2, 1)]]);
  });

  it("refuses counts that are no whole number of rows", () => {
    expect(() => createRowQueue(0, 1)).toThrow(RangeError);
    expect(() => takeRows(createRowQueue(3, 1), 0)).toThrow(RangeError);
    expect(() => takeRows(createRowQueue(3, 1), 1.5)).toThrow(RangeError);
  });

  it("neither loses nor doubles a row, whatever is taken and given back", () => {
    const action = fc.record({ count: fc.integer({ min: 1, max: 9 }), back: fc.boolean() });
    const property = fc.property(
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(action, { maxLength: 40 }),
      (rows, epochs, actions) => {
        let queue = createRowQueue(rows, epochs);
        let held: RowRange[] = [];
        for (const { count, back } of actions) {
          const left = rowsLeft(queue);
          const [next, taken] = takeRows(queue, count);
          expect(countRows(taken)).toBe(left - rowsLeft(next));
          queue = next;
          held.push(...taken);
          if (!back) continue;
          queue = giveBackRows(
            queue,
            held.filter((_, i) => i % 2 === 0),
          );
          held = held.filter((_, i) => i % 2 === 1);
        }
        const seen = [...held, ...takeAll(queue, 7).flat()].flatMap(({ epoch, start, count }) =>
          Array.from({ length: count }, (_, i) => epoch * rows + start + i),
        );
        const all = Array.from({ length: rows * epochs }, (_, i) => i);
        expect(seen.toSorted((a, b) => a - b)).toEqual(all);
      },
    );
    fc.assert(property, { seed: 7, numRuns: 300 });
  });
});
