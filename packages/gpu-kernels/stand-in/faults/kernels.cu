// Kernels with one fault each, which the stand-in has to find; and one without, to find faults of the host.

KERNEL scale(POINTER(float, values), const u32 length, const float factor) {
  OPEN(float, values);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i < length) values[i] *= factor;
}

// Each item takes the value of the one `distance` further on, round the group.
KERNEL rotate(POINTER(float, values), const u32 distance, const u32 barrier) {
  OPEN(float, values);
  SHARED float shared[256];
  const u32 i = LOCAL(0);
  shared[i] = values[i];
  if (barrier) BARRIER();
  values[i] = shared[(i + distance) % LOCAL_SIZE(0)];
}

KERNEL read_unwritten_shared(POINTER(float, values)) {
  OPEN(float, values);
  SHARED float shared[256];
  if (LOCAL(0) > 0) shared[LOCAL(0)] = 1;
  BARRIER();
  values[LOCAL(0)] = shared[LOCAL(0)];
}

KERNEL some_miss_barrier(POINTER(float, values)) {
  OPEN(float, values);
  if (LOCAL(0) % 2 == 0) BARRIER();
  values[LOCAL(0)] = 1;
}

KERNEL different_barriers(POINTER(float, values)) {
  OPEN(float, values);
  if (LOCAL(0) % 2 == 0) {
    BARRIER();
  } else {
    BARRIER();
  }
  values[LOCAL(0)] = 1;
}

// Groups count on those before them.
KERNEL chain_groups(POINTER(float, values)) {
  OPEN(float, values);
  if (LOCAL(0) == 0) values[GROUP(0)] = GROUP(0) == 0 ? 1 : values[GROUP(0) - 1] + 1;
}

KERNEL write_at(POINTER(float, values), const u32 index) {
  OPEN(float, values);
  values[index] = 1;
}

KERNEL divide_by_zero(POINTER(u32, values), const u32 divisor) {
  OPEN(u32, values);
  values[LOCAL(0)] = (LOCAL(0) + 5) / divisor;
}

KERNEL overflow_stack(POINTER(float, values), const u32 index) {
  OPEN(float, values);
  volatile float room[100000];
  for (u32 i = 0; i < 100000; i++) room[i] = 1;
  values[LOCAL(0)] = room[index];
}

KERNEL echo(
  POINTER(float, values),
  const u32 first,
  const float second,
  POINTER(const float, source),
  const u32 third
) {
  OPEN(float, values);
  OPEN(const float, source);
  values[0] = first;
  values[1] = second;
  values[2] = source[0];
  values[3] = third;
  values[4] = GROUPS(0) * 1000 + GROUPS(1) * 100 + LOCAL_SIZE(0) * 10 + LOCAL_SIZE(1);
}
