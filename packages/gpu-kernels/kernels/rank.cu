// The best k of each row. A class and its logit are one key of 64 bits, which orders by logit, then by ascending class; no two
// are equal, and 0 is none. Slices of SLICE classes are ranked on their own, then what is best in each. A small k is picked one by
// one (rank_scores, rank_keys); for a large one slices are sorted, and lists merged two by two (sort_scores, merge_keys).

// NaN is the lowest, and −0 is 0.
FUNCTION u64 key_of(const float logit, const u32 id) {
  const u32 bits = FLOAT_BITS(logit);
  const u32 magnitude = bits & 0x7fffffffu;
  u32 order;
  if (magnitude > 0x7f800000u) order = 0;
  else if (magnitude == 0) order = 0x80000000u;
  else order = bits > 0x7fffffffu ? ~bits : bits | 0x80000000u;
  return (u64)order << 32 | (0xffffffffu - id);
}

// A slice's best k, best first; 0 where it has no more. Groups: rows, slices.
KERNEL rank_scores(
  POINTER(const float, scores),
  const u32 first,
  const u32 count,
  const u32 k,
  POINTER(u64, best),
  const u32 slices,
  const u32 first_slice
) {
  SHARED u64 room[GROUP_ITEMS];
  OPEN(const float, scores);
  OPEN(u64, best);
  const u64 row = GROUP(0);
  const u32 begin = GROUP(1) * SLICE;
  const u32 end = min(count, begin + SLICE);
  const u64 out = (row * slices + first_slice + GROUP(1)) * k;
  u64 own = 0;
  u64 last = ~(u64)0;
  u32 stale = 1;
  for (u32 rank = 0; rank < k; rank++) {
    // Each item has the best of its own classes at hand; only whose was taken looks for the next.
    if (stale) {
      own = 0;
      for (u32 c = begin + LOCAL(0); c < end; c += GROUP_ITEMS) {
        const u64 key = key_of(scores[row * count + c], first + c);
        if (key < last && key > own) own = key;
      }
    }
    last = group_max_key(room, own);
    stale = own == last;
    if (LOCAL(0) == 0) best[out + rank] = last;
  }
}

// The best k of a row's `count` keys, best first. Groups: rows.
KERNEL rank_keys(POINTER(const u64, keys), const u32 count, const u32 k, POINTER(u64, best)) {
  SHARED u64 room[GROUP_ITEMS];
  OPEN(const u64, keys);
  OPEN(u64, best);
  const u64 row = GROUP(0);
  u64 own = 0;
  u64 last = ~(u64)0;
  u32 stale = 1;
  for (u32 rank = 0; rank < k; rank++) {
    if (stale) {
      own = 0;
      for (u32 i = LOCAL(0); i < count; i += GROUP_ITEMS) {
        const u64 key = keys[row * count + i];
        if (key < last && key > own) own = key;
      }
    }
    last = group_max_key(room, own);
    stale = own == last;
    if (LOCAL(0) == 0) best[row * k + rank] = last;
  }
}

// A slice's best `kept` keys, best first, of all of it sorted: Batcher 1968, bitonic. Groups: rows, slices.
KERNEL sort_scores(
  POINTER(const float, scores),
  const u32 first,
  const u32 count,
  const u32 kept,
  POINTER(u64, best),
  const u32 slices,
  const u32 first_slice
) {
  SHARED u64 keys[SLICE];
  OPEN(const float, scores);
  OPEN(u64, best);
  const u64 row = GROUP(0);
  const u32 begin = GROUP(1) * SLICE;
  const u64 out = (row * slices + first_slice + GROUP(1)) * kept;
  for (u32 n = LOCAL(0); n < SLICE; n += GROUP_ITEMS) {
    const u32 c = begin + n;
    keys[n] = c < count ? key_of(scores[row * count + c], first + c) : 0;
  }
  BARRIER();
  for (u32 run = 2; run <= SLICE; run *= 2) {
    for (u32 distance = run / 2; distance > 0; distance /= 2) {
      for (u32 n = LOCAL(0); n < SLICE / 2; n += GROUP_ITEMS) {
        const u32 low = 2 * n - (n & (distance - 1));
        const u64 a = keys[low];
        const u64 b = keys[low + distance];
        // Runs fall and rise in turns, so that two of them are one that can be split.
        if ((a < b) == ((low & run) == 0)) {
          keys[low] = b;
          keys[low + distance] = a;
        }
      }
      BARRIER();
    }
  }
  for (u32 n = LOCAL(0); n < kept; n += GROUP_ITEMS) best[out + n] = keys[n];
}

// Lists of `length` keys, best first, `count` a row, become half as many of the best `kept` of two each. An item a key, `entries`
// in all: its place is its own and the number of those before it in the other list.
KERNEL merge_keys(
  POINTER(const u64, lists),
  const u32 count,
  const u32 length,
  const u32 entries,
  POINTER(u64, merged),
  const u32 kept
) {
  OPEN(const u64, lists);
  OPEN(u64, merged);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i >= entries) return;
  const u32 row = i / length / count;
  const u32 list = i / length % count;
  const u32 place = i % length;
  const u64 key = lists[i];
  GLOBAL u64 *const out = merged + ((u64)row * ((count + 1) / 2) + list / 2) * kept;
  const u32 other = list ^ 1u;
  if (other >= count) {
    if (place < kept) out[place] = key;
    if (place + length < kept) out[place + length] = 0;
    return;
  }
  GLOBAL const u64 *const others = lists + ((u64)row * count + other) * length;
  u32 before = 0;
  u32 end = length;
  while (before < end) {
    const u32 middle = (before + end) / 2;
    // Only zeros are equal, and those of the first list come first.
    if (others[middle] > key || (others[middle] == key && other < list)) before = middle + 1;
    else end = middle;
  }
  if (place + before < kept) out[place + before] = key;
}
