// The output layer for a few rows, as lock-free steps have them. Register tiles would multiply
// mostly padding; here vectors run along the units, and each of the layer's weights is read once a
// pass.
#pragma once

#include "tile.h"

namespace heterosgd {
namespace {

constexpr size_t kFewRows = HETEROSGD_LANES == 4 ? 2 : 4;

HETEROSGD_INLINE bool is_few(size_t rows) { return rows <= kFewRows; }

// Scores of four classes (or fewer: the last one is then computed again).
template <size_t R>
HETEROSGD_INLINE void few_dots(size_t units, const float* hidden, const float* const* weights,
                               V (&sum)[4][R]) {
  for (size_t c = 0; c < 4; c++) {
    for (size_t r = 0; r < R; r++) sum[c][r] = V{};
  }
  size_t k = 0;
  for (; k + kLanes <= units; k += kLanes) {
    V x[R];
    for (size_t r = 0; r < R; r++) x[r] = ld(hidden + r * units + k);
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++) {
      const V w = ld(weights[c] + k);
      for (size_t r = 0; r < R; r++) sum[c][r] = fma(x[r], w, sum[c][r]);
    }
  }
  const size_t rest = units - k;
  if (rest == 0) return;
  for (size_t c = 0; c < 4; c++) {
    const V w = ld_part(weights[c] + k, rest);
    for (size_t r = 0; r < R; r++) {
      sum[c][r] = fma(ld_part(hidden + r * units + k, rest), w, sum[c][r]);
    }
  }
}

template <size_t R>
HETEROSGD_INLINE void few_scores_of(size_t units, size_t classes, const float* hidden,
                                    const float* weights, const float* bias, float* out,
                                    size_t out_stride, size_t width) {
  for (size_t first = 0; first < classes; first += 4) {
    const float* row[4];
    for (size_t c = 0; c < 4; c++) row[c] = weights + least(first + c, classes - 1) * units;
    V sum[4][R];
    few_dots<R>(units, hidden, row, sum);
    for (size_t c = 0; c < 4; c++) {
      const size_t at = least(first + c, classes - 1);
      float* to = out + at * out_stride;
      // The lanes of rows that don't exist hold numbers too.
      for (size_t j = 0; j < width; j += kLanes) st(to + j, splat(bias[at]));
      for (size_t r = 0; r < R; r++) to[r] = sum_lanes(sum[c][r]) + bias[at];
    }
  }
}

// out[c][row] = bias[c] + hidden[row] . weights[c], and bias[c] in the other lanes up to `width`.
HETEROSGD_LOCAL void few_scores(size_t rows, size_t units, size_t classes, const float* hidden,
                                const float* weights, const float* bias, float* out,
                                size_t out_stride, size_t width) {
  switch (rows) {
    case 1:
      return few_scores_of<1>(units, classes, hidden, weights, bias, out, out_stride, width);
    case 2:
      return few_scores_of<2>(units, classes, hidden, weights, bias, out, out_stride, width);
#if HETEROSGD_LANES > 4
    case 3:
      return few_scores_of<3>(units, classes, hidden, weights, bias, out, out_stride, width);
    default:
      return few_scores_of<4>(units, classes, hidden, weights, bias, out, out_stride, width);
#endif
  }
}

// N vectors of units: both the derivative by the hidden rows, with the weights as they were, and
// the weights' update. `rest` is how many units the last vector has, if not all.
template <size_t R, size_t N>
HETEROSGD_INLINE void few_update_units(size_t units, size_t classes, const float* derivatives,
                                       size_t stride, const float* scaled, float* d_hidden,
                                       size_t width, bool first, float* weights, size_t rest) {
  V x[R][N];
  V sum[R][N];
  for (size_t r = 0; r < R; r++) {
    for (size_t j = 0; j < N; j++) {
      x[r][j] = ld(scaled + r * width + j * kLanes);
      sum[r][j] = first ? V{} : ld(d_hidden + r * width + j * kLanes);
    }
  }
  for (size_t c = 0; c < classes; c++) {
    float* row = weights + c * units;
    V w[N];
    for (size_t j = 0; j < N; j++) w[j] = rest > 0 ? ld_part(row, rest) : ld(row + j * kLanes);
    V d[R];
    for (size_t r = 0; r < R; r++) {
      d[r] = splat(derivatives[c * stride + r]);
      for (size_t j = 0; j < N; j++) sum[r][j] = fma(d[r], w[j], sum[r][j]);
    }
    for (size_t r = 0; r < R; r++) {
      for (size_t j = 0; j < N; j++) w[j] = fma(d[r], x[r][j], w[j]);
    }
    for (size_t j = 0; j < N; j++) {
      if (rest > 0) {
        st_part(row, w[j], rest);
      } else {
        st(row + j * kLanes, w[j]);
      }
    }
  }
  for (size_t r = 0; r < R; r++) {
    for (size_t j = 0; j < N; j++) st(d_hidden + r * width + j * kLanes, sum[r][j]);
  }
}

template <size_t R>
HETEROSGD_INLINE void few_update_of(const Panels& panels, size_t classes, const float* derivatives,
                                    size_t stride, const float* scaled, float* d_hidden, bool first,
                                    float* weights) {
  const size_t units = panels.columns;
  for (size_t i = 0; i < panels.count; i++) {
    const size_t width = panels.width(i);
    const size_t filled = panels.filled(i);
    const size_t at = i * kPanel * R;
    size_t j = 0;
    if (filled == kPanel) {
      few_update_units<R, 2>(units, classes, derivatives, stride, scaled + at, d_hidden + at, width,
                             first, weights + i * kPanel, 0);
      continue;
    }
    for (; j < filled; j += kLanes) {
      const size_t rest = filled - j < kLanes ? filled - j : 0;
      few_update_units<R, 1>(units, classes, derivatives, stride, scaled + at + j,
                             d_hidden + at + j, width, first, weights + i * kPanel + j, rest);
    }
  }
}

// For a block of classes: d_hidden[row] += derivatives[c][row] * weights[c], from 0 if `first`, and
// weights[c] += derivatives[c][row] * scaled[row]. `scaled` and `d_hidden` lie in panels of units.
HETEROSGD_LOCAL void few_update(size_t rows, const Panels& panels, size_t classes,
                                const float* derivatives, size_t stride, const float* scaled,
                                float* d_hidden, bool first, float* weights) {
  switch (rows) {
    case 1:
      return few_update_of<1>(panels, classes, derivatives, stride, scaled, d_hidden, first,
                              weights);
    case 2:
      return few_update_of<2>(panels, classes, derivatives, stride, scaled, d_hidden, first,
                              weights);
#if HETEROSGD_LANES > 4
    case 3:
      return few_update_of<3>(panels, classes, derivatives, stride, scaled, d_hidden, first,
                              weights);
    default:
      return few_update_of<4>(panels, classes, derivatives, stride, scaled, d_hidden, first,
                              weights);
#endif
  }
}

}  // namespace
}  // namespace heterosgd
