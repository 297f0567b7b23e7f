// The first layer forward: out = activation(X W + bias) for CSR rows X.
#pragma once

#include "functions.h"
#include "parallel.h"

namespace heterosgd {
namespace {

// Rows of the weights lie anywhere in memory: they are asked for while those before are summed.
constexpr size_t kGatherAhead = 24;
static_assert(kGatherAhead <= kPrefetchAhead, "the indices are padded for it");

// One row's columns of one chunk.
template <int kVectors>
HETEROSGD_INLINE void gather_chunk(const Batch& batch, size_t row, const Layer& layer, size_t c,
                                   size_t count, float* out) {
  const float* weights = layer.weights + c;
  Chunk<kVectors> sum;
  sum.load(layer.bias + c, count);
  const uint32_t end = batch.offsets[row + 1];
  for (uint32_t i = batch.offsets[row]; i < end; i++) {
    prefetch<kVectors, 0>(weights + batch.indices[i + kGatherAhead] * layer.outputs);
    Chunk<kVectors> w;
    w.load(weights + batch.indices[i] * layer.outputs, count);
    sum.add(batch.values[i], w);
  }
  sum.store(out + c, count);
}

// Rows begin .. end - 1 of the batch, into rows begin .. end - 1 of `out`.
HETEROSGD_LOCAL void gather_rows(const Batch& batch, Range rows, const Layer& layer,
                                 Activation activation, float* out) {
  const size_t width = layer.outputs;
  for (size_t row = rows.begin; row < rows.end; row++) {
    for_chunks({0, width}, [&](auto vectors, size_t c, size_t count) {
      gather_chunk<decltype(vectors)::value>(batch, row, layer, c, count, out + row * width);
    });
    activate(activation, out + row * width, width);
  }
}

// Threads split the rows, if they are many.
HETEROSGD_LOCAL void gather(Device& device, const Batch& batch, const Layer& layer,
                            Activation activation, float* out) {
  const size_t threads = device.pool.threads();
  if (threads == 1 || !is_worth_sharing(batch.non_zeros * layer.outputs)) {
    gather_rows(batch, {0, batch.rows}, layer, activation, out);
    return;
  }
  parallel(device.pool, [&](size_t thread) {
    gather_rows(batch, share_rows(batch, thread, threads), layer, activation, out);
  });
}

}  // namespace
}  // namespace heterosgd
