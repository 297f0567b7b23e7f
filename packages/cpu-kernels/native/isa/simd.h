// Vectors of as many lanes as the instruction set has, by GCC's and clang's vector extensions.
//
// Every header of this folder is compiled once for each instruction set, and none may leave
// anything behind that the linker could merge with another's: all is `static inline` in an
// anonymous namespace, and nothing of the standard library that is a template or inline is used.
#pragma once

#include <math.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "../contract.h"

#define HETEROSGD_INLINE static inline __attribute__((always_inline, unused))
// For functions that may be unused in one instruction set's file or another.
#define HETEROSGD_LOCAL static __attribute__((unused))

namespace heterosgd {
namespace {

constexpr size_t kLanes = HETEROSGD_LANES;

// Loads and stores need no alignment, and see any float array.
typedef float V __attribute__((vector_size(HETEROSGD_LANES * 4), aligned(4), may_alias));
typedef int32_t VI __attribute__((vector_size(HETEROSGD_LANES * 4), aligned(4), may_alias));
typedef uint32_t VU __attribute__((vector_size(HETEROSGD_LANES * 4), aligned(4), may_alias));

HETEROSGD_INLINE V ld(const float* p) { return *reinterpret_cast<const V*>(p); }
HETEROSGD_INLINE void st(float* p, V v) { *reinterpret_cast<V*>(p) = v; }
HETEROSGD_INLINE V splat(float x) { return x - V{}; }
// a * b + c, fused where the processor can.
HETEROSGD_INLINE V fma(V a, V b, V c) { return a * b + c; }

// The first `count` (below kLanes) elements; the other lanes are zero. Reads nothing beyond them.
HETEROSGD_INLINE V ld_part(const float* p, size_t count) {
#if HETEROSGD_LANES == 16
  const __mmask16 mask = static_cast<__mmask16>((1u << count) - 1);
  return reinterpret_cast<V>(_mm512_maskz_loadu_ps(mask, p));
#else
  float part[kLanes] = {};
  for (size_t i = 0; i < count; i++) part[i] = p[i];
  return ld(part);
#endif
}

// Writes the first `count` (below kLanes) lanes and nothing else.
HETEROSGD_INLINE void st_part(float* p, V v, size_t count) {
#if HETEROSGD_LANES == 16
  const __mmask16 mask = static_cast<__mmask16>((1u << count) - 1);
  _mm512_mask_storeu_ps(p, mask, reinterpret_cast<__m512>(v));
#else
  float part[kLanes];
  st(part, v);
  for (size_t i = 0; i < count; i++) p[i] = part[i];
#endif
}

// Past the caches where the processor can: for what is read again much later only. `p` is aligned
// to the vector.
HETEROSGD_INLINE void st_stream(float* p, V v) {
#if HETEROSGD_LANES == 16
  _mm512_stream_ps(p, reinterpret_cast<__m512>(v));
#elif HETEROSGD_LANES == 8
  _mm256_stream_ps(p, reinterpret_cast<__m256>(v));
#elif defined(__SSE2__)
  _mm_stream_ps(p, reinterpret_cast<__m128>(v));
#else
  st(p, v);
#endif
}

// The larger of each lane; b where either is NaN.
HETEROSGD_INLINE V max(V a, V b) {
#if HETEROSGD_LANES == 16
  // Masked by all lanes: GCC warns of its own header's uninitialized variable otherwise.
  return reinterpret_cast<V>(
      _mm512_maskz_max_ps(0xffff, reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
#elif HETEROSGD_LANES == 8
  return reinterpret_cast<V>(
      _mm256_max_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<V>(_mm_max_ps(reinterpret_cast<__m128>(a), reinterpret_cast<__m128>(b)));
#else
  return a > b ? a : b;
#endif
}

HETEROSGD_INLINE V square_root(V v) {
#if HETEROSGD_LANES == 16
  return reinterpret_cast<V>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(v)));
#elif HETEROSGD_LANES == 8
  return reinterpret_cast<V>(_mm256_sqrt_ps(reinterpret_cast<__m256>(v)));
#elif defined(__SSE2__)
  return reinterpret_cast<V>(_mm_sqrt_ps(reinterpret_cast<__m128>(v)));
#else
  V out;
  for (size_t i = 0; i < kLanes; i++) out[i] = __builtin_sqrtf(v[i]);
  return out;
#endif
}

HETEROSGD_INLINE V absolute(V v) {
  return reinterpret_cast<V>(reinterpret_cast<VI>(v) & 0x7fffffff);
}
// a where the mask's lane is all ones, b where it is 0.
HETEROSGD_INLINE V select(VI mask, V a, V b) { return mask ? a : b; }

// Bit i is set where a's lane i is above b's.
HETEROSGD_INLINE uint32_t lanes_above(V a, V b) {
#if HETEROSGD_LANES == 16
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_GT_OQ);
#elif HETEROSGD_LANES == 8
  const VI above = a > b;
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(above)));
#elif defined(__SSE2__)
  const VI above = a > b;
  return static_cast<uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(above)));
#else
  const VI above = a > b;
  uint32_t bits = 0;
  for (size_t i = 0; i < kLanes; i++) bits |= static_cast<uint32_t>(above[i] & 1) << i;
  return bits;
#endif
}

HETEROSGD_INLINE float sum_lanes(V v) {
#if defined(__SSE2__)
#if HETEROSGD_LANES == 16
  const __m512 all = reinterpret_cast<__m512>(v);
  const __m256 half = _mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, all, 0),
                                    _mm512_maskz_extractf32x8_ps(0xff, all, 1));
#elif HETEROSGD_LANES == 8
  const __m256 half = reinterpret_cast<__m256>(v);
#endif
#if HETEROSGD_LANES > 4
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
#else
  const __m128 four = reinterpret_cast<__m128>(v);
#endif
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
#else
  return (v[0] + v[1]) + (v[2] + v[3]);
#endif
}

constexpr size_t least(size_t a, size_t b) { return a < b ? a : b; }
constexpr size_t most(size_t a, size_t b) { return a > b ? a : b; }
constexpr size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace
}  // namespace heterosgd
