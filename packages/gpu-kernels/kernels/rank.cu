// The best k of each row. A class and its logit are one key of 64 bits, which orders by logit, then by ascending class; no two
// are equal, and 0 is none. Slices of SLICE classes are ranked on their own, then what is best in each.

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
