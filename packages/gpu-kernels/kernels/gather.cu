// The first layer forward: out[r] = activation(bias + Σ values[i] · weights[indices[i]]) over the non-zeros i of row r.

// An item a unit of a row, so that a group reads whole rows of the weights; groups of few units take several rows.
KERNEL gather(
  POINTER(const u32, offsets),
  POINTER(const u32, indices),
  POINTER(const float, values),
  POINTER(const float, weights),
  POINTER(const float, bias),
  POINTER(float, out),
  const u32 rows,
  const u32 units,
  const u32 activation
) {
  OPEN(const u32, offsets);
  OPEN(const u32, indices);
  OPEN(const float, values);
  OPEN(const float, weights);
  OPEN(const float, bias);
  OPEN(float, out);
  const u32 row = GROUP(0) * LOCAL_SIZE(1) + LOCAL(1);
  const u32 unit = GROUP(1) * LOCAL_SIZE(0) + LOCAL(0);
  if (row >= rows || unit >= units) return;

  const u32 end = offsets[row + 1];
  u32 i = offsets[row];
  float sum = bias[unit];
  // Four at a time, so that their loads are under way together.
  for (; i + 4 <= end; i += 4) {
    const float w0 = weights[(u64)indices[i] * units + unit];
    const float w1 = weights[(u64)indices[i + 1] * units + unit];
    const float w2 = weights[(u64)indices[i + 2] * units + unit];
    const float w3 = weights[(u64)indices[i + 3] * units + unit];
    sum = fma(values[i], w0, sum);
    sum = fma(values[i + 1], w1, sum);
    sum = fma(values[i + 2], w2, sum);
    sum = fma(values[i + 3], w3, sum);
  }
  for (; i < end; i++) sum = fma(values[i], weights[(u64)indices[i] * units + unit], sum);
  out[(u64)row * units + unit] = activate(activation, sum);
}
