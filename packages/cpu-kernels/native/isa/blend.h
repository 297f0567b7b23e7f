// target = sum of coefficient * source, in one pass over memory whatever the number of terms.
#pragma once

#include "parallel.h"

namespace heterosgd {
namespace {

// Beyond this size the target would push everything else out of the caches: it is written past
// them, unless it is read too.
constexpr size_t kStreamedTarget = size_t{1} << 20;

// Orders streaming stores before all that follow, which processors promise of ordinary ones alone.
HETEROSGD_INLINE void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// kTerms terms, known to the compiler; or `terms`, if that is 0.
template <int kTerms, bool kStream>
HETEROSGD_INLINE void blend_vectors(float* target, size_t terms, const float* coefficients,
                                    const float* const* sources, Range range) {
  // One vector of each source at a time was the fastest with streaming stores (of 1, 2 and 4).
  constexpr int kVectors = kStream ? 1 : 4;
  constexpr size_t kStep = kVectors * kLanes;
  const size_t n = kTerms == 0 ? terms : kTerms;
  size_t i = range.begin;
  for (; i + kStep <= range.end; i += kStep) {
    Chunk<kVectors> sum;
    sum.clear();
    for (size_t t = 0; t < n; t++) {
      Chunk<kVectors> source;
      source.load(sources[t] + i, kStep);
      sum.add(coefficients[t], source);
    }
    if (kStream) {
      for (size_t j = 0; j < kVectors; j++) st_stream(target + i + j * kLanes, sum.v[j]);
    } else {
      sum.store(target + i, kStep);
    }
  }
  for (; i < range.end; i += kLanes) {
    const size_t count = least(kLanes, range.end - i);
    Chunk<1> sum;
    sum.clear();
    for (size_t t = 0; t < n; t++) {
      Chunk<1> source;
      source.v[0] = count == kLanes ? ld(sources[t] + i) : ld_part(sources[t] + i, count);
      sum.add(coefficients[t], source);
    }
    if (count == kLanes) {
      sum.store(target + i, count);
    } else {
      st_part(target + i, sum.v[0], count);
    }
  }
}

template <bool kStream>
HETEROSGD_LOCAL void blend_range(float* target, size_t terms, const float* coefficients,
                                 const float* const* sources, Range range) {
  switch (terms) {
    case 1:
      return blend_vectors<1, kStream>(target, terms, coefficients, sources, range);
    case 2:
      return blend_vectors<2, kStream>(target, terms, coefficients, sources, range);
    case 3:
      return blend_vectors<3, kStream>(target, terms, coefficients, sources, range);
    default:
      return blend_vectors<0, kStream>(target, terms, coefficients, sources, range);
  }
}

// Threads split the range.
HETEROSGD_LOCAL void blend(Device& device, size_t length, float* target, size_t terms,
                           const float* coefficients, const float* const* sources) {
  const size_t threads = device.pool.threads();
  bool stream = length >= kStreamedTarget;
  for (size_t t = 0; t < terms; t++) stream &= sources[t] != target;
  // Streaming stores want whole vectors' alignment: what lies before the first is blended apart.
  const size_t misaligned = reinterpret_cast<uintptr_t>(target) % 64 / sizeof(float);
  const size_t head = misaligned == 0 ? 0 : least(length, 16 - misaligned);
  parallel(device.pool, [&](size_t thread) {
    if (thread == 0 && head > 0) {
      blend_range<false>(target, terms, coefficients, sources, {0, head});
    }
    Range range = share(length - head, 64, thread, threads);
    range.begin += head;
    range.end += head;
    if (stream) {
      blend_range<true>(target, terms, coefficients, sources, range);
      stream_fence();
    } else {
      blend_range<false>(target, terms, coefficients, sources, range);
    }
  });
}

}  // namespace
}  // namespace heterosgd
