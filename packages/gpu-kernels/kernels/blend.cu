// target = Σ coefficient · source over up to four sources, element by element; with `again`, added to the target. An element's
// result depends on its own values alone, wherever a part begins.
KERNEL blend(
  POINTER(float, target),
  const u32 length,
  const u32 again,
  const u32 terms,
  const float c0,
  POINTER(const float, source0),
  const float c1,
  POINTER(const float, source1),
  const float c2,
  POINTER(const float, source2),
  const float c3,
  POINTER(const float, source3)
) {
  OPEN(float, target);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i >= length) return;
  float sum = again ? target[i] : 0;
  if (terms > 0) {
    OPEN(const float, source0);
    sum = fma(c0, source0[i], sum);
  }
  if (terms > 1) {
    OPEN(const float, source1);
    sum = fma(c1, source1[i], sum);
  }
  if (terms > 2) {
    OPEN(const float, source2);
    sum = fma(c2, source2[i], sum);
  }
  if (terms > 3) {
    OPEN(const float, source3);
    sum = fma(c3, source3[i], sum);
  }
  target[i] = sum;
}
