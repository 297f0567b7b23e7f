// Backward through the first layer. The batch's non-zeros come by feature: those of features[slot] are entries starts[slot] to
// starts[slot + 1]. So each feature's gradient is summed whole, in a fixed order, without atomics, and takes effect once.
KERNEL scatter(
  POINTER(const u32, features),
  POINTER(const u32, starts),
  POINTER(const u32, entry_rows),
  POINTER(const float, entry_values),
  POINTER(const float, derivatives),
  const u32 count,
  const u32 units,
  UPDATE_PARAMETERS
) {
  OPEN(const u32, features);
  OPEN(const u32, starts);
  OPEN(const u32, entry_rows);
  OPEN(const float, entry_values);
  OPEN(const float, derivatives);
  OPEN_UPDATE(u);
  const u32 slot = GROUP(0) * LOCAL_SIZE(1) + LOCAL(1);
  const u32 unit = GROUP(1) * LOCAL_SIZE(0) + LOCAL(0);
  if (slot >= count || unit >= units) return;

  const u32 end = starts[slot + 1];
  u32 i = starts[slot];
  float sum = 0;
  // Four at a time, so that their loads are under way together.
  for (; i + 4 <= end; i += 4) {
    const float d0 = derivatives[(u64)entry_rows[i] * units + unit];
    const float d1 = derivatives[(u64)entry_rows[i + 1] * units + unit];
    const float d2 = derivatives[(u64)entry_rows[i + 2] * units + unit];
    const float d3 = derivatives[(u64)entry_rows[i + 3] * units + unit];
    sum = fma(entry_values[i], d0, sum);
    sum = fma(entry_values[i + 1], d1, sum);
    sum = fma(entry_values[i + 2], d2, sum);
    sum = fma(entry_values[i + 3], d3, sum);
  }
  for (; i < end; i++) {
    sum = fma(entry_values[i], derivatives[(u64)entry_rows[i] * units + unit], sum);
  }
  update(u, (u64)features[slot] * units + unit, sum);
}
