// The first layer backward. Threads split the features, so that no two write the same row of
// weights and every element's sum runs in the same order whatever their number. They don't split
// the columns: threads would write neighbouring lines of the same rows, which processors fetch
// ahead of need, and work on half of a row at a time.
#pragma once

#include "functions.h"
#include "parallel.h"
#include "rules.h"
#include "stripes.h"

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
                                   const float* derivatives, size_t width) {
  for (size_t row = 0; row < batch.rows; row++) {
    for_chunks({0, width}, [&](auto vectors, size_t c, size_t count) {
      add_row<decltype(vectors)::value>(batch, row, width, gradient, derivatives + row * width, c,
                                        count);
    });
  }
}

// The same for the features of one stripe, all rows after another for each chunk of columns.
HETEROSGD_LOCAL void add_stripe(const Batch& batch, const Stripes& stripes, size_t stripe,
                                const Gradient& gradient, const float* derivatives, size_t width) {
  const uint32_t* begin = stripes.begins + stripe * batch.rows;
  const uint32_t* end = begin + batch.rows;
  for_chunks({0, width}, [&](auto vectors, size_t c, size_t count) {
    constexpr int kVectors = decltype(vectors)::value;
    float* target = gradient.weights + c;
    StripeCursor ahead(batch, begin, end);
    for (size_t i = 0; i < kScatterAhead; i++) prefetch<kVectors, 1>(target + ahead.next() * width);
    for (size_t row = 0; row < batch.rows; row++) {
      if (begin[row] == end[row]) continue;
      Chunk<kVectors> d;
      d.load(derivatives + row * width + c, count);
      for (uint32_t i = begin[row]; i < end[row]; i++) {
        prefetch<kVectors, 1>(target + ahead.next() * width);
        float* to = target + batch.indices[i] * width;
        Chunk<kVectors> w;
        w.load(to, count);
        w.add(gradient.scale * batch.values[i], d);
        w.store(to, count);
      }
    }
  });
}

// A rule is not linear in the gradient: a feature's non-zeros are summed before it is applied. For
// the features from `features.begin` on in column order.
template <Rule kRule>
HETEROSGD_LOCAL void apply_by_feature(const Batch& batch, const Gradient& gradient,
                                      const float* derivatives, size_t width, Range features) {
  constexpr size_t kAhead = 10;
  const Part part = weights_part(gradient);
  const uint32_t first = features.begin == 0 ? 0 : batch.column_end[features.begin - 1];
  for_chunks({0, width}, [&](auto vectors, size_t c, size_t count) {
    constexpr int kVectors = decltype(vectors)::value;
    uint32_t i = first;
    for (size_t soon = features.begin; soon < features.end + kAhead; soon++) {
      if (soon < features.end) {
        const size_t at = size_t{batch.column_index[soon]} * width + c;
        prefetch<kVectors, 1>(part.target + at);
        prefetch<kVectors, 1>(part.state[0] + at);
        if (kRule == Rule::kAdam) prefetch<kVectors, 1>(part.state[1] + at);
      }
      if (soon < features.begin + kAhead) continue;
      const size_t f = soon - kAhead;
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

HETEROSGD_LOCAL void apply_features(const Batch& batch, const Gradient& gradient,
                                    const float* derivatives, size_t width, Range features) {
  if (gradient.rule == Rule::kAdagrad) {
    apply_by_feature<Rule::kAdagrad>(batch, gradient, derivatives, width, features);
  } else {
    apply_by_feature<Rule::kAdam>(batch, gradient, derivatives, width, features);
  }
}

// Everything on one thread: dZ, the weights' gradient, the bias's.
HETEROSGD_LOCAL void scatter_alone(const Batch& batch, size_t width, Activation activation,
                                   const float* outputs, float* d_outputs,
                                   const Gradient& gradient) {
  multiply_by_derivative(activation, outputs, d_outputs, batch.rows * width);
  if (gradient.rule == Rule::kNone) return;
  if (gradient.rule == Rule::kAdd) {
    add_non_zeros(batch, gradient, d_outputs, width);
  } else {
    apply_features(batch, gradient, d_outputs, width, {0, batch.columns});
  }
  apply_row_sums(gradient, d_outputs, batch.rows, width, {0, width});
}

HETEROSGD_LOCAL void scatter(Device& device, const Batch& batch, const Layer& layer,
                             Activation activation, const float* outputs, float* d_outputs,
                             const Gradient& gradient) {
  const size_t threads = device.pool.threads();
  const size_t width = layer.outputs;
  const bool adds = gradient.rule == Rule::kAdd;
  Stripes stripes;
  // Taken for small batches too: what work buffers come to is planned by the rows alone.
  if (threads > 1 && adds && !take_stripes(batch.rows, threads, device.scratch, &stripes)) return;
  if (threads == 1 || !is_worth_sharing(batch.non_zeros * width)) {
    scatter_alone(batch, width, activation, outputs, d_outputs, gradient);
    return;
  }
  if (adds) choose_stripes(batch, &stripes);
  const size_t parts = adds ? stripes.count : kPartsPerThread * threads;
  size_t taken = 0;
  parallel(device.pool, [&](size_t thread) {
    const Range rows = share(batch.rows, 1, thread, threads);
    const size_t at = rows.begin * width;
    multiply_by_derivative(activation, outputs + at, d_outputs + at,
                           (rows.end - rows.begin) * width);
    if (gradient.rule == Rule::kNone) return;
    if (adds) divide_rows(batch, stripes, rows);
    device.pool.barrier();
    for (;;) {
      const size_t part = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
      if (part >= parts) break;
      if (adds) {
        add_stripe(batch, stripes, parts - 1 - part, gradient, d_outputs, width);
      } else {
        apply_features(batch, gradient, d_outputs, width, share(batch.columns, 1, part, parts));
      }
    }
    apply_row_sums(gradient, d_outputs, batch.rows, width, share(width, 32, thread, threads));
  });
}

}  // namespace
}  // namespace heterosgd
