// The micro-kernel under every dense product: a tile of rows by columns held in registers.
#pragma once

#include "simd.h"

namespace heterosgd {
namespace {

// Tiles are up to kTileRows rows high and one or two vectors wide: 24 sums of 32 registers with
// AVX-512 (and on arm64), 12 of 16 otherwise. Each step of the inner loop loads the vectors once
// and one number a row, so that two loads serve at least three multiplications.
#if HETEROSGD_LANES == 16 || defined(__aarch64__)
constexpr size_t kTileRows = 12;
#else
constexpr size_t kTileRows = 6;
#endif
constexpr size_t kPanel = 2 * kLanes;

// What a tile's sums start from.
enum class Start { kZero, kTarget, kRowValue };

// One step of a tile's sums. With pairs, each element is two numbers in bfloat16 as `pairs.h` lays
// them out, and a step multiplies and adds both.
template <bool kPairs>
HETEROSGD_INLINE V add_step(const float* p, V b, V sum) {
#if HETEROSGD_BF16
  if constexpr (kPairs) {
    int32_t pair;
    memcpy(&pair, p, sizeof(pair));
    const VI a = pair - VI{};
    return reinterpret_cast<V>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sum),
                                                reinterpret_cast<__m512bh>(a),
                                                reinterpret_cast<__m512bh>(b)));
  }
#endif
  return fma(splat(*p), b, sum);
}

// out[m][j] = start + sum over k < inner of p[m * p_row + k * p_step] * q[k * q_step + j], for `R`
// rows m and `N` vectors of columns j. Rows of `out` are out_row apart. `start` is 0, out[m][j]
// itself or row_values[m].
template <size_t R, size_t N, bool kPairs>
HETEROSGD_INLINE void tile(const float* __restrict p, size_t p_row, size_t p_step,
                           const float* __restrict q, size_t q_step, size_t inner, Start start,
                           const float* row_values, float* out, size_t out_row) {
  V sum[R][N];
#pragma GCC unroll 12
  for (size_t m = 0; m < R; m++) {
#pragma GCC unroll 2
    for (size_t j = 0; j < N; j++) sum[m][j] = V{};
  }
  if (start == Start::kTarget) {
#pragma GCC unroll 12
    for (size_t m = 0; m < R; m++) {
#pragma GCC unroll 2
      for (size_t j = 0; j < N; j++) sum[m][j] = ld(out + m * out_row + j * kLanes);
    }
  } else if (start == Start::kRowValue) {
#pragma GCC unroll 12
    for (size_t m = 0; m < R; m++) {
#pragma GCC unroll 2
      for (size_t j = 0; j < N; j++) sum[m][j] = splat(row_values[m]);
    }
  }
  for (size_t k = 0; k < inner; k++) {
    V b[N];
#pragma GCC unroll 2
    for (size_t j = 0; j < N; j++) b[j] = ld(q + j * kLanes);
#pragma GCC unroll 12
    for (size_t m = 0; m < R; m++) {
#pragma GCC unroll 2
      for (size_t j = 0; j < N; j++) sum[m][j] = add_step<kPairs>(p + m * p_row, b[j], sum[m][j]);
    }
    p += p_step;
    q += q_step;
  }
#pragma GCC unroll 12
  for (size_t m = 0; m < R; m++) {
#pragma GCC unroll 2
    for (size_t j = 0; j < N; j++) st(out + m * out_row + j * kLanes, sum[m][j]);
  }
}

// What a product's tiles are to fetch meanwhile into the second cache, a few lines each.
struct Ahead {
  const char* next = nullptr;
  size_t lines = 0;
  size_t per_tile = 0;

  Ahead() = default;
  // `count` floats from `start` on, spread over `tiles` tiles.
  Ahead(const float* start, size_t count, size_t tiles)
      : next(reinterpret_cast<const char*>(start)),
        lines((count + 15) / 16),
        per_tile((lines + tiles) / most(tiles, 1)) {}

  void fetch() {
    const size_t now = least(per_tile, lines);
    for (size_t i = 0; i < now; i++) __builtin_prefetch(next + 64 * i, 0, 2);
    next += 64 * now;
    lines -= now;
  }

  void fetch_all() {
    per_tile = lines;
    fetch();
  }
};

using TileFunction = void (*)(const float* p, size_t p_stride, const float* q, size_t q_step,
                              size_t inner, Start start, const float* row_values, float* out,
                              size_t out_row);

// `kRowMajor`: p's rows are p_stride apart and its steps one element. Otherwise the other way
// round.
template <size_t R, size_t N, bool kRowMajor, bool kPairs>
HETEROSGD_LOCAL __attribute__((noinline)) void tile_function(const float* p, size_t p_stride,
                                                             const float* q, size_t q_step,
                                                             size_t inner, Start start,
                                                             const float* row_values, float* out,
                                                             size_t out_row) {
  tile<R, N, kPairs>(p, kRowMajor ? p_stride : 1, kRowMajor ? 1 : p_stride, q, q_step, inner, start,
                     row_values, out, out_row);
}

template <size_t N, bool kRowMajor, bool kPairs>
struct Tiles {
#define HETEROSGD_TILE(rows) tile_function<rows, N, kRowMajor, kPairs>
  static constexpr TileFunction of[] = {
      HETEROSGD_TILE(1),  HETEROSGD_TILE(2),  HETEROSGD_TILE(3),
      HETEROSGD_TILE(4),  HETEROSGD_TILE(5),  HETEROSGD_TILE(6),
#if HETEROSGD_LANES == 16 || defined(__aarch64__)
      HETEROSGD_TILE(7),  HETEROSGD_TILE(8),  HETEROSGD_TILE(9),
      HETEROSGD_TILE(10), HETEROSGD_TILE(11), HETEROSGD_TILE(12),
#endif
  };
#undef HETEROSGD_TILE
};

template <bool kRowMajor>
HETEROSGD_INLINE const TileFunction* tile_functions(size_t width, bool pairs) {
#if HETEROSGD_BF16
  if (pairs) {
    return width == kPanel ? Tiles<2, kRowMajor, true>::of : Tiles<1, kRowMajor, true>::of;
  }
#endif
  (void)pairs;
  return width == kPanel ? Tiles<2, kRowMajor, false>::of : Tiles<1, kRowMajor, false>::of;
}

// `tile` for any number of rows, over `width` (kPanel or kLanes) columns: by tiles of about equal
// height, so that no thin one is left at the end. With `pairs`, p and q hold pairs, and `inner`,
// `p_stride` and `q_step` count them.
template <bool kRowMajor>
HETEROSGD_LOCAL void panel_product(size_t rows, size_t width, const float* p, size_t p_stride,
                                   const float* q, size_t q_step, size_t inner, Start start,
                                   const float* row_values, float* out, size_t out_row,
                                   Ahead& ahead, bool pairs = false) {
  const TileFunction* functions = tile_functions<kRowMajor>(width, pairs);
  const size_t tiles = (rows + kTileRows - 1) / kTileRows;
  for (size_t i = 0, m = 0; i < tiles; i++) {
    const size_t end = rows * (i + 1) / tiles;
    ahead.fetch();
    functions[end - m - 1](p + m * (kRowMajor ? p_stride : 1), p_stride, q, q_step, inner, start,
                           row_values == nullptr ? nullptr : row_values + m, out + m * out_row,
                           out_row);
    m = end;
  }
}

// Columns laid out in panels: full ones of kPanel columns, and at the end perhaps one of kLanes.
// In an array of n rows, panel i begins at element i * kPanel * n; its rows are width(i) apart.
struct Panels {
  size_t columns;
  size_t padded;
  size_t count;

  explicit Panels(size_t all)
      : columns(all), padded(round_up(all, kLanes)), count((padded + kPanel - 1) / kPanel) {}
  size_t width(size_t i) const { return least(kPanel, padded - i * kPanel); }
  // How many columns of the panel are real.
  size_t filled(size_t i) const { return least(kPanel, columns - i * kPanel); }
};

// Copies `count` elements times `factor`, and fills up with zeros to `width` (a multiple of
// kLanes).
HETEROSGD_INLINE void copy_padded(const float* from, size_t count, V factor, float* to,
                                  size_t width) {
  size_t j = 0;
  for (; j + kLanes <= count; j += kLanes) st(to + j, ld(from + j) * factor);
  if (j == width) return;
  st(to + j, ld_part(from + j, count - j) * factor);
  for (j += kLanes; j < width; j += kLanes) st(to + j, V{});
}

// Panel i of a row-major matrix's columns, times `factor`; its rows are `stride` apart.
HETEROSGD_LOCAL void pack_panel(const float* matrix, size_t rows, size_t stride,
                                const Panels& panels, size_t i, float factor, float* out) {
  const V by = splat(factor);
  const size_t width = panels.width(i);
  const size_t filled = panels.filled(i);
  const float* from = matrix + i * kPanel;
  for (size_t m = 0; m < rows; m++) {
    copy_padded(from + m * stride, filled, by, out + m * width, width);
  }
}

// Panel i of a row-major matrix's transpose: out[k * width + j] = matrix[(i * kPanel + j) * stride
// + k].
HETEROSGD_LOCAL void pack_transposed(const float* matrix, size_t stride, size_t inner,
                                     const Panels& panels, size_t i, float* out) {
  const size_t width = panels.width(i);
  const size_t filled = panels.filled(i);
  const float* from = matrix + i * kPanel * stride;
  for (size_t k = 0; k < inner; k++) {
    float* to = out + k * width;
    for (size_t j = 0; j < filled; j++) to[j] = from[j * stride + k];
    for (size_t j = filled; j < width; j++) to[j] = 0.0f;
  }
}

}  // namespace
}  // namespace heterosgd
