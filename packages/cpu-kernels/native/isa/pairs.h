// Numbers rounded to bfloat16, two to an element of 32 bits, for products that multiply and add
// pairs (AVX512_BF16). Sums stay float32.
//
// Pairs lie along the dimension that is summed over; where its length is odd, the last partner is
// 0.
#pragma once

#include "tile.h"

namespace heterosgd {
namespace {

constexpr size_t pair_count(size_t n) { return (n + 1) / 2; }

// Rounded to the nearest, ties to even; NaN stays NaN.
HETEROSGD_INLINE uint32_t rounded(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  if (x != x) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

HETEROSGD_INLINE void put_pair(float* to, float first, float second) {
  const uint32_t pair = rounded(first) | rounded(second) << 16;
  memcpy(to, &pair, sizeof(pair));
}

#if HETEROSGD_BF16
// Lane i: a[i] and b[i].
HETEROSGD_INLINE V interleaved(V a, V b) {
  const __m512i order = _mm512_set_epi32(31 << 16 | 15, 30 << 16 | 14, 29 << 16 | 13, 28 << 16 | 12,
                                         27 << 16 | 11, 26 << 16 | 10, 25 << 16 | 9, 24 << 16 | 8,
                                         23 << 16 | 7, 22 << 16 | 6, 21 << 16 | 5, 20 << 16 | 4,
                                         19 << 16 | 3, 18 << 16 | 2, 17 << 16 | 1, 16 << 16 | 0);
  const __m512bh both =
      _mm512_cvtne2ps_pbh(reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(a));
  return reinterpret_cast<V>(
      _mm512_maskz_permutexvar_epi16(~__mmask32{0}, order, reinterpret_cast<__m512i>(both)));
}

// Neighbours: lane i of the first half a[2i] and a[2i + 1], then those of b.
HETEROSGD_INLINE V neighbours(V a, V b) {
  return reinterpret_cast<V>(
      _mm512_cvtne2ps_pbh(reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(a)));
}

// Rows of a matrix, each with its neighbours paired; out's rows are pair_count(columns) apart.
HETEROSGD_LOCAL void pair_neighbours(const float* matrix, size_t rows, size_t columns, float* out) {
  const size_t pairs = pair_count(columns);
  for (size_t m = 0; m < rows; m++) {
    const float* from = matrix + m * columns;
    float* to = out + m * pairs;
    size_t k = 0;
    for (; k + 2 * kLanes <= columns; k += 2 * kLanes) {
      st(to + k / 2, neighbours(ld(from + k), ld(from + k + kLanes)));
    }
    for (; k < columns; k += 2) put_pair(to + k / 2, from[k], k + 1 < columns ? from[k + 1] : 0.0f);
  }
}

// Panel i of a row-major matrix's columns, times `factor`, with rows 2m and 2m + 1 paired.
HETEROSGD_LOCAL void pack_row_pairs(const float* matrix, size_t rows, size_t stride,
                                    const Panels& panels, size_t i, float factor, float* out) {
  const V by = splat(factor);
  const size_t width = panels.width(i);
  const size_t filled = panels.filled(i);
  for (size_t m = 0; m < rows; m += 2) {
    const float* first = matrix + m * stride + i * kPanel;
    const bool odd = m + 1 == rows;
    const float* second = odd ? first : first + stride;
    float* to = out + m / 2 * width;
    for (size_t j = 0; j < width; j += kLanes) {
      const size_t left = filled > j ? filled - j : 0;
      const V a = left >= kLanes ? ld(first + j) : ld_part(first + j, left);
      const V b = left >= kLanes ? ld(second + j) : ld_part(second + j, left);
      st(to + j, interleaved(a * by, odd ? V{} : b * by));
    }
  }
}

// Panel i of a row-major matrix's transpose, with its neighbours paired:
// out[k * width + j] = matrix[i * kPanel + j][2k] and [2k + 1].
HETEROSGD_LOCAL void pack_transposed_pairs(const float* matrix, size_t columns,
                                           const Panels& panels, size_t i, float* out) {
  const size_t width = panels.width(i);
  const size_t filled = panels.filled(i);
  for (size_t k = 0; k < columns; k += 2) {
    float* to = out + k / 2 * width;
    for (size_t j = 0; j < filled; j++) {
      const float* from = matrix + (i * kPanel + j) * columns + k;
      put_pair(to + j, from[0], k + 1 < columns ? from[1] : 0.0f);
    }
    for (size_t j = filled; j < width; j++) put_pair(to + j, 0.0f, 0.0f);
  }
}

// A tile's derivatives (count x rows) in pairs of rows and in pairs of classes, as the two products
// of the backward pass want them. Rows of `by_rows` are stride / 2 apart, those of `by_classes`
// stride.
HETEROSGD_LOCAL void pair_tile(const float* tile, size_t count, size_t padded_rows, size_t stride,
                               float* by_rows, float* by_classes) {
  for (size_t c = 0; c < count; c += 2) {
    const float* first = tile + c * stride;
    const bool odd = c + 1 == count;
    for (size_t j = 0; j < padded_rows; j += 2 * kLanes) {
      const bool half = j + kLanes >= padded_rows;
      const V a0 = ld(first + j);
      const V a1 = half ? V{} : ld(first + j + kLanes);
      const V b0 = odd ? V{} : ld(first + stride + j);
      const V b1 = odd || half ? V{} : ld(first + stride + j + kLanes);
      const V pair = neighbours(a0, a1);
      const V other = neighbours(b0, b1);
      float* row = by_rows + c * (stride / 2) + j / 2;
      if (half) {
        st_part(row, pair, kLanes / 2);
        if (!odd) st_part(row + stride / 2, other, kLanes / 2);
      } else {
        st(row, pair);
        if (!odd) st(row + stride / 2, other);
        st(by_classes + c / 2 * stride + j + kLanes, interleaved(a1, b1));
      }
      st(by_classes + c / 2 * stride + j, interleaved(a0, b0));
    }
  }
}
#endif

}  // namespace
}  // namespace heterosgd
