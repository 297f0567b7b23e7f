/** Gaps of Shell's sort: Ciura's, then growing by 2.25, enough for 2³² entries. */
const GAPS: number[] = [1, 4, 10, 23, 57, 132, 301, 701];
while (GAPS.at(-1)! < 2 ** 31) GAPS.push(Math.floor(2.25 * GAPS.at(-1)!));
GAPS.reverse();

/**
 * Sorts entries `start … end − 1` by index, the values along with them, in place and without
 * allocating: rows are sorted one by one while a text is read.
 */
export function sortRow(
  indices: Uint32Array,
  values: Float32Array | null,
  start: number,
  end: number,
): void {
  for (const gap of GAPS) {
    for (let i = start + gap; i < end; i++) {
      const index = indices[i]!;
      const value = values ? values[i]! : 0;
      let j = i;
      for (; j - gap >= start && indices[j - gap]! > index; j -= gap) {
        indices[j] = indices[j - gap]!;
        if (values) values[j] = values[j - gap]!;
      }
      indices[j] = index;
      if (values) values[j] = value;
    }
  }
}

/** Position of the first entry that repeats the index before it, −1 if none does. */
export function findDuplicate(indices: Uint32Array, start: number, end: number): number {
  for (let i = start + 1; i < end; i++) {
    if (indices[i] === indices[i - 1]) return i;
  }
  return -1;
}

/** Adds up the values of equal indices in a sorted row. Returns the row's new end. */
export function sumDuplicates(
  indices: Uint32Array,
  values: Float32Array | null,
  start: number,
  end: number,
): number {
  let last = start;
  let sum = values ? values[start]! : 0;
  for (let i = start + 1; i < end; i++) {
    if (indices[i] === indices[last]) {
      if (values) sum += values[i]!;
    } else {
      last++;
      indices[last] = indices[i]!;
      sum = values ? values[i]! : 0;
    }
    if (values) values[last] = sum;
  }
  return last + 1;
}
