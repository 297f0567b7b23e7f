// The first layer backward. Threads split the columns of the weights, so that no two write the same
// element and every element's sum runs in the same order whatever their number.
#pragma once

#include "functions.h"
#include "parallel.h"
#include "rules.h"

namespace heterosgd {
namespace {

constexpr size_t kScatterAhead = 24;
static_assert(kScatterAhead <= kPrefetchAhead, "the indices are padded for it");

// target[f] += scale * x * dZ, non-zero by non-zero.
template <int kVectors>
HETEROSGD_INLINE void add_row(const Batch& batch, size_t row, size_t width,
                              const Gradient& gradient, const float* d_row, size_t c,
                              size_t count) {
  float* target = gradient.weights + c;
  Chunk<kVectors> d;
  d.load(d_row + c, count);
  const uint32_t end = batch.offsets[row + 1];
  for (uint32_t i = batch.offsets[row]; i < end; i++) {
    prefetch<kVectors, 1>(target + batch.indices[i + kScatterAhead] * width);
    float* to = target + batch.indices[i] * width;
    Chunk<kVectors> w;
    w.load(to, count);
    w.add(gradient.scale * batch.values[i], d);
    w.store(to, count);
  }
}

HETEROSGD_LOCAL void add_non_zeros(const Batch& batch, const Gradient& gradient,
                                   const float* derivatives, size_t width, Range columns) {
  for (size_t row = 0; row < batch.rows; row++) {
    for_chunks(columns, [&](auto vectors, size_t c, size_t count) {
      add_row<decltype(vectors)::value>(batch, row, width, gradient, derivatives + row * width, c,
                                        count);
    });
  }
}

// A rule is not linear in the gradient: a feature's non-zeros are summed before it is applied.
template <Rule kRule>
HETEROSGD_LOCAL void apply_by_feature(const Batch& batch, const Gradient& gradient,
                                      const float* derivatives, size_t width, Range columns) {
  constexpr uint32_t kAhead = 10;
  const Part part = weights_part(gradient);
  for_chunks(columns, [&](auto vectors, size_t c, size_t count) {
    constexpr int kVectors = decltype(vectors)::value;
    uint32_t i = 0;
    for (uint32_t f = 0; f < batch.columns; f++) {
      if (f + kAhead < batch.columns) {
        const size_t soon = size_t{batch.column_index[f + kAhead]} * width + c;
        prefetch<kVectors, 1>(part.target + soon);
        prefetch<kVectors, 1>(part.state[0] + soon);
        if (kRule == Rule::kAdam) prefetch<kVectors, 1>(part.state[1] + soon);
      }
      Chunk<kVectors> sum;
      sum.clear();
      for (const uint32_t end = batch.column_end[f]; i < end; i++) {
        Chunk<kVectors> d;
        d.load(derivatives + batch.column_row[i] * width + c, count);
        sum.add(batch.column_value[i], d);
      }
      apply_chunk<kRule>(gradient, part, size_t{batch.column_index[f]} * width + c, sum, count);
    }
  });
}

// Everything of these columns: dZ, the weights' gradient, the bias's.
HETEROSGD_LOCAL void scatter_columns(const Batch& batch, size_t width, Activation activation,
                                     const float* outputs, float* d_outputs,
                                     const Gradient& gradient, Range columns) {
  const size_t count = columns.end - columns.begin;
  if (count == 0) return;
  if (count == width) {
    multiply_by_derivative(activation, outputs, d_outputs, batch.rows * width);
  } else {
    for (size_t row = 0; row < batch.rows; row++) {
      const size_t at = row * width + columns.begin;
      multiply_by_derivative(activation, outputs + at, d_outputs + at, count);
    }
  }
  switch (gradient.rule) {
    case Rule::kNone:
      return;
    case Rule::kAdd:
      add_non_zeros(batch, gradient, d_outputs, width, columns);
      break;
    case Rule::kAdagrad:
      apply_by_feature<Rule::kAdagrad>(batch, gradient, d_outputs, width, columns);
      break;
    case Rule::kAdam:
      apply_by_feature<Rule::kAdam>(batch, gradient, d_outputs, width, columns);
      break;
  }
  apply_row_sums(gradient, d_outputs, batch.rows, width, columns);
}

HETEROSGD_LOCAL void scatter(Device& device, const Batch& batch, const Layer& layer,
                             Activation activation, const float* outputs, float* d_outputs,
                             const Gradient& gradient) {
  const size_t threads = device.pool.threads();
  parallel(device.pool, [&](size_t thread) {
    // A cache line has 16 elements.
    const Range columns = share(layer.outputs, 16, thread, threads);
    scatter_columns(batch, layer.outputs, activation, outputs, d_outputs, gradient, columns);
  });
}

}  // namespace
}  // namespace heterosgd
