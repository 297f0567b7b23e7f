// The losses over one block of classes and one panel of rows: scores become exponentials and sums,
// or losses and derivatives.
#pragma once

#include "functions.h"
#include "output_task.h"

namespace heterosgd {
namespace {

enum class Keep { kNot, kCached, kStreamed };

// Takes a block's scores (count x N vectors) into the running maxima and sums of N vectors of rows.
// The exponentials, relative to the new maxima, may be kept.
template <size_t N, Keep kKeep>
HETEROSGD_INLINE void add_exponentials(const float* scores, size_t count, float* kept,
                                       float* kept_maxima, float* maxima, float* sums,
                                       float* lows) {
  constexpr size_t width = N * kLanes;
  V before[N];
  V maximum[N];
  V sum[N];
  for (size_t j = 0; j < N; j++) {
    maximum[j] = before[j] = ld(maxima + j * kLanes);
    sum[j] = V{};
  }
  // A score that is NaN leaves the maximum, and makes the sum NaN.
  for (size_t c = 0; c < count; c++) {
    for (size_t j = 0; j < N; j++) {
      maximum[j] = max(ld(scores + c * width + j * kLanes), maximum[j]);
    }
  }
  for (size_t c = 0; c < count; c++) {
    for (size_t j = 0; j < N; j++) {
      const size_t at = c * width + j * kLanes;
      const V e = exponential(ld(scores + at) - maximum[j]);
      sum[j] += e;
      if constexpr (kKeep == Keep::kCached) st(kept + at, e);
      if constexpr (kKeep == Keep::kStreamed) st_stream(kept + at, e);
    }
  }
  for (size_t j = 0; j < N; j++) {
    const size_t at = j * kLanes;
    st(maxima + at, maximum[j]);
    if constexpr (kKeep != Keep::kNot) st(kept_maxima + at, maximum[j]);
    // Thousands of blocks: what rounding leaves out of the sum is carried along (Knuth's two-sum).
    const V factor = exponential(before[j] - maximum[j]);
    const V old = ld(sums + at) * factor;
    const V total = old + sum[j];
    const V part = total - old;
    const V low = (old - (total - part)) + (sum[j] - part);
    st(sums + at, total);
    st(lows + at, ld(lows + at) * factor + low);
  }
}

// What turns a panel's kept exponentials or scores into derivatives.
struct RowTerms {
  const float* maxima;    // of all classes
  const float* inverses;  // 1 / sum of exponentials of all classes
  const int32_t* labelled;
};

HETEROSGD_INLINE V masked(V v, const int32_t* labelled) {
  return reinterpret_cast<V>(reinterpret_cast<VI>(v) & *reinterpret_cast<const VI*>(labelled));
}

// Adds the derivatives' sum over a panel's rows to the bias's gradient, kLanes partial sums a
// class.
HETEROSGD_INLINE void add_bias(float* bias, bool first, V sum) {
  st(bias, first ? sum : ld(bias) + sum);
}

// Kept exponentials (count x N vectors) become probabilities in the tile; rows without labels get
// 0.
template <size_t N>
HETEROSGD_INLINE void probabilities_of_kept(const float* kept, const float* kept_maxima,
                                            size_t count, const RowTerms& terms, float* tile,
                                            size_t stride, float* bias, bool first) {
  V factor[N];
  for (size_t j = 0; j < N; j++) {
    const size_t at = j * kLanes;
    factor[j] = exponential(ld(kept_maxima + at) - ld(terms.maxima + at)) * ld(terms.inverses + at);
  }
  for (size_t c = 0; c < count; c++) {
    V sum = V{};
    for (size_t j = 0; j < N; j++) {
      const V e = ld(kept + (c * N + j) * kLanes);
      const V p = masked(e * factor[j], terms.labelled + j * kLanes);
      st(tile + c * stride + j * kLanes, p);
      sum += p;
    }
    add_bias(bias + c * kLanes, first, sum);
  }
}

// Scores in the tile become probabilities in place. None is above the maximum unless others have
// changed the weights since the first pass; then the exponential must not overflow.
template <size_t N>
HETEROSGD_INLINE void probabilities_of_scores(size_t count, const RowTerms& terms, float* tile,
                                              size_t stride, float* bias, bool first) {
  for (size_t c = 0; c < count; c++) {
    V sum = V{};
    for (size_t j = 0; j < N; j++) {
      const size_t at = j * kLanes;
      const V below = max(V{}, ld(terms.maxima + at) - ld(tile + c * stride + at));
      const V e = exponential(-below);
      const V p = masked(e * ld(terms.inverses + at), terms.labelled + at);
      st(tile + c * stride + at, p);
      sum += p;
    }
    add_bias(bias + c * kLanes, first, sum);
  }
}

// Independent sigmoids: adds log(1 + e^score) to the losses, and scores become probabilities in
// place.
template <size_t N>
HETEROSGD_INLINE void logistic_of_scores(size_t count, const int32_t* labelled, float* tile,
                                         size_t stride, double* losses, float* bias, bool first) {
  V loss[N];
  for (size_t j = 0; j < N; j++) loss[j] = V{};
  for (size_t c = 0; c < count; c++) {
    V sum = V{};
    for (size_t j = 0; j < N; j++) {
      float* at = tile + c * stride + j * kLanes;
      V p;
      V l;
      logistic(ld(at), &p, &l);
      p = masked(p, labelled + j * kLanes);
      loss[j] += l;
      st(at, p);
      sum += p;
    }
    add_bias(bias + c * kLanes, first, sum);
  }
  for (size_t j = 0; j < N; j++) {
    float part[kLanes];
    st(part, loss[j]);
    for (size_t i = 0; i < kLanes; i++) losses[j * kLanes + i] += static_cast<double>(part[i]);
  }
}

}  // namespace
}  // namespace heterosgd
