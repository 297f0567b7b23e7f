// Dense products of row-major matrices of any shape, over `tile`. A caller that shares the work
// among threads gives each some of the rows (or columns) of `out`.
//
// Rows without padding; columns that don't fill a vector go through a buffer of the caller's, so
// that nothing outside of the arrays is read or written.
#pragma once

#include "tile.h"

namespace heterosgd {
namespace {

// Floats that the products below need as `buffer`.
constexpr size_t product_buffer(size_t rows, size_t inner) { return (rows + inner) * kPanel; }

// One panel of columns, of which the last `width - filled` don't exist in `out`.
template <bool kRowMajor>
HETEROSGD_LOCAL void edge_product(size_t rows, size_t width, size_t filled, const float* p,
                                  size_t p_stride, const float* q, size_t q_step, size_t inner,
                                  Start start, float* out, size_t out_stride, float* edge,
                                  Ahead& ahead, bool pairs = false) {
  if (filled == width) {
    panel_product<kRowMajor>(rows, width, p, p_stride, q, q_step, inner, start, nullptr, out,
                             out_stride, ahead, pairs);
    return;
  }
  if (start == Start::kTarget) {
    for (size_t m = 0; m < rows; m++) {
      copy_padded(out + m * out_stride, filled, splat(1.0f), edge + m * width, width);
    }
  }
  panel_product<kRowMajor>(rows, width, p, p_stride, q, q_step, inner, start, nullptr, edge, width,
                           ahead, pairs);
  for (size_t m = 0; m < rows; m++) {
    const float* from = edge + m * width;
    float* to = out + m * out_stride;
    size_t j = 0;
    for (; j + kLanes <= filled; j += kLanes) st(to + j, ld(from + j));
    if (j < filled) st_part(to + j, ld(from + j), filled - j);
  }
}

// out[m][j] = start + sum over k of p[m][k] * q[k][j], or with p[k][m] unless `kRowMajor`.
// `p_stride` is the distance of p's rows, `q_stride` and `out_stride` those of the others. `start`
// is kZero or kTarget.
template <bool kRowMajor>
HETEROSGD_LOCAL void product(size_t rows, size_t inner, size_t columns, const float* p,
                             size_t p_stride, const float* q, size_t q_stride, Start start,
                             float* out, size_t out_stride, float* buffer) {
  const Panels panels(columns);
  Ahead ahead;
  for (size_t i = 0; i < panels.count; i++) {
    const size_t width = panels.width(i);
    const size_t filled = panels.filled(i);
    const float* panel = q + i * kPanel;
    size_t step = q_stride;
    if (filled < width) {
      for (size_t k = 0; k < inner; k++) {
        copy_padded(panel + k * q_stride, filled, splat(1.0f), buffer + k * width, width);
      }
      panel = buffer;
      step = width;
    }
    edge_product<kRowMajor>(rows, width, filled, p, p_stride, panel, step, inner, start,
                            out + i * kPanel, out_stride, buffer + inner * kPanel, ahead);
  }
}

// out[m][n] = bias[n] + sum over k of x[m][k] * w[n][k]: a dense layer's forward. Rows of x and w
// are `inner` apart, rows of out `columns`.
HETEROSGD_LOCAL void multiply_by_rows(size_t rows, size_t inner, size_t columns, const float* x,
                                      const float* w, const float* bias, float* out,
                                      float* buffer) {
  const Panels panels(columns);
  Ahead ahead;
  // The caller's arrays may overlap: the result is then anything, but nothing else may happen.
  for (size_t m = 0; m < rows; m++) memmove(out + m * columns, bias, columns * sizeof(float));
  for (size_t i = 0; i < panels.count; i++) {
    pack_transposed(w, inner, inner, panels, i, buffer);
    edge_product<true>(rows, panels.width(i), panels.filled(i), x, inner, buffer, panels.width(i),
                       inner, Start::kTarget, out + i * kPanel, columns, buffer + inner * kPanel,
                       ahead);
  }
}

}  // namespace
}  // namespace heterosgd
