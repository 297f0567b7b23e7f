// How fast this core multiplies and adds, with vectors of LANES floats. Compiled once for each
// instruction set (-DLANES=16, 8 or 4 with the flags that go with it).

namespace {

typedef float Vector __attribute__((vector_size(LANES * 4)));

// Enough independent sums that the latency of none is waited for, and few enough that all stay in
// registers: AVX-512 has 32 of them, AVX2 and SSE2 have 16.
constexpr int kSums = LANES == 16 ? 24 : 12;

}  // namespace

// Carries out `rounds` rounds and returns how many floating-point operations that were. Multiplying
// and adding count as two, fused or not.
extern "C" double bench_peak(long rounds, float factor, float term) {
  Vector sums[kSums];
  for (int i = 0; i < kSums; i++) sums[i] = Vector{} + static_cast<float>(i);
  for (long round = 0; round < rounds; round++) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; i++) sums[i] = sums[i] * factor + term;
  }
  Vector total{};
  for (int i = 0; i < kSums; i++) total += sums[i];
  // Whoever looks at the sums forces the compiler to compute them.
  float seen = 0;
  for (int i = 0; i < LANES; i++) seen += total[i];
  const double operations = 2.0 * kSums * LANES * static_cast<double>(rounds);
  return seen == 12345.678f ? operations + 1 : operations;
}
