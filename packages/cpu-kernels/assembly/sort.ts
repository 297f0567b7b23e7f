/** Sorting what a batch names: labels by class, non-zeros by feature. */

/** Digits of the radix sort. */
const digitBits: u32 = 11;
const digits: usize = 1 << digitBits;

/** Bytes of the room that `sortPairs` counts in. */
export const counterBytes: usize = digits << 2;

/**
 * Sorts `count` pairs of whole numbers by key, keeping the order of equal keys. `keys2` and
 * `payloads2` are room of the same size; `counters` of `counterBytes`.
 */
export function sortPairs(
  keys: usize,
  payloads: usize,
  keys2: usize,
  payloads2: usize,
  count: usize,
  maxKey: u32,
  counters: usize,
): void {
  const bytes = count << 2;
  let from = keys;
  let fromPayloads = payloads;
  let to = keys2;
  let toPayloads = payloads2;
  for (let shift: u32 = 0; shift < 32 && maxKey >> shift != 0; shift += digitBits) {
    memory.fill(counters, 0, counterBytes);
    for (let i: usize = 0; i < bytes; i += 4) {
      const counter = counters + (((<usize>load<u32>(from + i) >> shift) & (digits - 1)) << 2);
      store<u32>(counter, load<u32>(counter) + 1);
    }
    let sum: u32 = 0;
    for (let i: usize = 0; i < counterBytes; i += 4) {
      const size = load<u32>(counters + i);
      store<u32>(counters + i, sum);
      sum += size;
    }
    for (let i: usize = 0; i < bytes; i += 4) {
      const key = load<u32>(from + i);
      const counter = counters + (((<usize>key >> shift) & (digits - 1)) << 2);
      const at = load<u32>(counter);
      store<u32>(counter, at + 1);
      store<u32>(to + (<usize>at << 2), key);
      store<u32>(toPayloads + (<usize>at << 2), load<u32>(fromPayloads + i));
    }
    const swap = from;
    from = to;
    to = swap;
    const swapPayloads = fromPayloads;
    fromPayloads = toPayloads;
    toPayloads = swapPayloads;
  }
  if (from != keys) {
    memory.copy(keys, from, bytes);
    memory.copy(payloads, fromPayloads, bytes);
  }
}

/**
 * Orders the labels of `rows` rows by class, then row: what one block of classes needs lies
 * together. `classes` and `labelRows` receive them.
 */
export function labelOrder(
  rows: usize,
  labelOffsets: usize,
  labels: usize,
  maxLabel: u32,
  classes: usize,
  labelRows: usize,
  classes2: usize,
  labelRows2: usize,
  counters: usize,
): void {
  const begin = load<u32>(labelOffsets);
  const count = load<u32>(labelOffsets + (rows << 2)) - begin;
  memory.copy(classes, labels + (<usize>begin << 2), <usize>count << 2);
  fillRows(rows, labelOffsets, labelRows);
  if (rows > 1) {
    sortPairs(classes, labelRows, classes2, labelRows2, count, maxLabel, counters);
  }
}

/** Writes each entry's row, from the first row's first entry on. */
function fillRows(rows: usize, offsets: usize, target: usize): void {
  for (let row: usize = 0; row < rows; row++) {
    const size = load<u32>(offsets, 4) - load<u32>(offsets);
    for (const end = target + (<usize>size << 2); target < end; target += 4) {
      store<u32>(target, <u32>row);
    }
    offsets += 4;
  }
}

/**
 * Orders the non-zeros of `rows` rows by feature, then row. Returns the number of different
 * features. Of five arrays with an element for each non-zero, `columns` receives the features,
 * `ends` the end of each one's non-zeros in `columnRows` and `columnValues`; `room` is used on the
 * way.
 */
export function columnOrder(
  rows: usize,
  offsets: usize,
  indices: usize,
  values: usize,
  maxFeature: u32,
  columns: usize,
  ends: usize,
  columnRows: usize,
  columnValues: usize,
  room: usize,
  counters: usize,
): usize {
  const begin = <usize>load<u32>(offsets);
  const count = <usize>load<u32>(offsets + (rows << 2)) - begin;
  const ownValues = values + (begin << 2);
  // Keys and positions, sorted, become values and rows where they lie.
  memory.copy(columnValues, indices + (begin << 2), count << 2);
  for (let i: usize = 0; i < count; i++) store<u32>(columnRows + (i << 2), <u32>i);
  fillRows(rows, offsets, room);
  sortPairs(columnValues, columnRows, columns, ends, count, maxFeature, counters);
  let features: usize = 0;
  let last: u32 = 0;
  for (let i: usize = 0; i < count; i++) {
    const feature = load<u32>(columnValues + (i << 2));
    const position = <usize>load<u32>(columnRows + (i << 2)) << 2;
    if (i == 0 || feature != last) {
      store<u32>(columns + (features << 2), feature);
      features++;
      last = feature;
    }
    store<u32>(ends + ((features - 1) << 2), <u32>i + 1);
    store<f32>(columnValues + (i << 2), load<f32>(ownValues + position));
    store<u32>(columnRows + (i << 2), load<u32>(room + position));
  }
  return features;
}
