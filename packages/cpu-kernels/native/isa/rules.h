// How gradients change parameters: plain addition, Adagrad (Duchi, Hazan, Singer 2011), Adam
// (Kingma, Ba 2015, Algorithm 1), with exact square roots and divisions. In both, epsilon is added
// to the root.
#pragma once

#include "parallel.h"

namespace heterosgd {
namespace {

// What a gradient changes of one array: itself and its state.
struct Part {
  float* target;
  float* state[2];
};

HETEROSGD_INLINE Part weights_part(const Gradient& gradient) {
  return {gradient.weights, {gradient.state_weights[0], gradient.state_weights[1]}};
}
HETEROSGD_INLINE Part bias_part(const Gradient& gradient) {
  return {gradient.bias, {gradient.state_bias[0], gradient.state_bias[1]}};
}

// Lets a chunk of a gradient (before `scale`) take effect from element `start` on.
template <Rule kRule, int kVectors>
HETEROSGD_INLINE void apply_chunk(const Gradient& gradient, const Part& part, size_t start,
                                  const Chunk<kVectors>& values, size_t count) {
  typedef Chunk<kVectors> C;
  C target;
  target.load(part.target + start, count);
  if constexpr (kRule == Rule::kAdd) {
    target.add(gradient.scale, values);
  } else if constexpr (kRule == Rule::kAdagrad) {
    C squares;
    squares.load(part.state[0] + start, count);
    for (size_t i = 0; i < C::size; i++) {
      const V g = gradient.scale * values.v[i];
      squares.v[i] = fma(g, g, squares.v[i]);
      target.v[i] -= gradient.rate * g / (square_root(squares.v[i]) + gradient.epsilon);
    }
    squares.store(part.state[0] + start, count);
  } else if constexpr (kRule == Rule::kAdam) {
    C first;
    C second;
    first.load(part.state[0] + start, count);
    second.load(part.state[1] + start, count);
    for (size_t i = 0; i < C::size; i++) {
      const V g = gradient.scale * values.v[i];
      const V m = fma(splat(gradient.beta1), first.v[i], gradient.rest1 * g);
      const V v = fma(splat(gradient.beta2), second.v[i], gradient.rest2 * g * g);
      first.v[i] = m;
      second.v[i] = v;
      const V root = square_root(v * gradient.correction) + gradient.epsilon;
      target.v[i] -= gradient.rate * m / root;
    }
    first.store(part.state[0] + start, count);
    second.store(part.state[1] + start, count);
  }
  target.store(part.target + start, count);
}

template <Rule kRule>
HETEROSGD_INLINE void apply_all(const Gradient& gradient, const Part& part, size_t start,
                                const float* values, size_t count) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Chunk<1> chunk;
    chunk.load(values + i, kLanes);
    apply_chunk<kRule>(gradient, part, start + i, chunk, kLanes);
  }
  if (i == count) return;
  Chunk<0> rest;
  rest.load(values + i, count - i);
  apply_chunk<kRule>(gradient, part, start + i, rest, count - i);
}

// Lets `count` elements of a gradient (before `scale`) take effect from element `start` on.
HETEROSGD_LOCAL void apply_gradient(const Gradient& gradient, const Part& part, size_t start,
                                    const float* values, size_t count) {
  switch (gradient.rule) {
    case Rule::kNone:
      return;
    case Rule::kAdd:
      return apply_all<Rule::kAdd>(gradient, part, start, values, count);
    case Rule::kAdagrad:
      return apply_all<Rule::kAdagrad>(gradient, part, start, values, count);
    case Rule::kAdam:
      return apply_all<Rule::kAdam>(gradient, part, start, values, count);
  }
}

// A bias's gradient: the sum of `rows` rows of `width` derivatives, for these columns.
HETEROSGD_LOCAL void apply_row_sums(const Gradient& gradient, const float* derivatives, size_t rows,
                                    size_t width, Range columns) {
  const Part part = bias_part(gradient);
  for_chunks(columns, [&](auto vectors, size_t c, size_t count) {
    Chunk<decltype(vectors)::value> sums;
    sums.clear();
    for (size_t row = 0; row < rows; row++) {
      Chunk<decltype(vectors)::value> values;
      values.load(derivatives + row * width + c, count);
      for (size_t i = 0; i < sums.size; i++) sums.v[i] += values.v[i];
    }
    float block[kChunkVectors * kLanes];
    sums.store(block, count);
    apply_gradient(gradient, part, c, block, count);
  });
}

}  // namespace
}  // namespace heterosgd
