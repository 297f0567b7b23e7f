// Sums and maxima over a group of 256 items in one dimension, in a fixed order. Every item gets the result.

#define GROUP_ITEMS 256

FUNCTION float group_sum(SHARED_POINTER float *const room, const float value) {
  const u32 item = LOCAL(0);
  room[item] = value;
  BARRIER();
  for (u32 distance = GROUP_ITEMS / 2; distance > 0; distance /= 2) {
    if (item < distance) room[item] += room[item + distance];
    BARRIER();
  }
  const float sum = room[0];
  BARRIER();
  return sum;
}

// NaN counts as less than anything.
FUNCTION float group_max(SHARED_POINTER float *const room, const float value) {
  const u32 item = LOCAL(0);
  room[item] = value;
  BARRIER();
  for (u32 distance = GROUP_ITEMS / 2; distance > 0; distance /= 2) {
    if (item < distance) room[item] = fmax(room[item], room[item + distance]);
    BARRIER();
  }
  const float most = room[0];
  BARRIER();
  return most;
}

FUNCTION u64 group_max_key(SHARED_POINTER u64 *const room, const u64 value) {
  const u32 item = LOCAL(0);
  room[item] = value;
  BARRIER();
  for (u32 distance = GROUP_ITEMS / 2; distance > 0; distance /= 2) {
    if (item < distance && room[item + distance] > room[item]) room[item] = room[item + distance];
    BARRIER();
  }
  const u64 most = room[0];
  BARRIER();
  return most;
}
