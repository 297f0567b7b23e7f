// Exponential, logistic function and activations on vectors. The polynomials are minimax fits of
// our own; their errors are below float32's rounding.
#pragma once

#include "simd.h"

namespace heterosgd {
namespace {

// e^x for x up to 88, with a relative error below 2e-7. Below -87 it stays at e^-87, which is zero
// for every sum that has a term of 1. NaN stays NaN.
//
// x = n ln 2 + r with |r| <= ln 2 / 2; adding 1.5 * 2^23 rounds to the integer n in the low bits.
HETEROSGD_INLINE V exponential(V x) {
  const V shift = splat(12582912.0f);
  x = max(splat(-87.0f), x);
  const V t = fma(x, splat(1.44269504f), shift);
  const V n = t - shift;
  V r = fma(n, splat(-0.693359375f), x);
  r = fma(n, splat(2.12194440e-4f), r);
  V p = splat(1.3814318e-3f);
  p = fma(p, r, splat(8.3688513e-3f));
  p = fma(p, r, splat(4.1668401e-2f));
  p = fma(p, r, splat(1.6666520e-1f));
  p = fma(p, r, splat(4.9999993e-1f));
  p = fma(p, r * r, r) + 1.0f;
  // Without signs, since NaN may overflow.
  const VU scale = (reinterpret_cast<VU>(t) << 23) + 0x3f800000u;
  return p * reinterpret_cast<V>(scale);
}

// What the loss of an independent yes or no needs: s = 1 / (1 + e^-z) and l = log(1 + e^z), both
// without overflow and with a small relative error.
HETEROSGD_INLINE void logistic(V z, V* s, V* l) {
  const V e = exponential(-absolute(z));
  // log(1 + e) = 2 atanh(q), q = e / (2 + e) <= 1/3. One division serves both results.
  const V r = 1.0f / ((1.0f + e) * (2.0f + e));
  const V one = r * (2.0f + e);
  const V q = e * r * (1.0f + e);
  const V t = q * q;
  V p = splat(1.2154355e-1f);
  p = fma(p, t, splat(1.0712872e-1f));
  p = fma(p, t, splat(1.4308523e-1f));
  p = fma(p, t, splat(1.9999436e-1f));
  p = fma(p, t, splat(3.3333338e-1f));
  p = fma(p * t, q, q);
  *l = max(V{}, z) + (p + p);
  *s = select(z >= 0.0f, one, e * one);
}

HETEROSGD_INLINE V sigmoid(V z) {
  const V e = exponential(-absolute(z));
  const V one = 1.0f / (1.0f + e);
  return select(z >= 0.0f, one, e * one);
}

HETEROSGD_INLINE V hyperbolic_tangent(V x) {
  const V size = absolute(x);
  // Large: (1 - e) / (1 + e), e = e^-2|x|. It would cancel near 0, where a polynomial serves.
  const V e = exponential(-2.0f * size);
  const V large = (1.0f - e) / (1.0f + e);
  const V t = x * x;
  V p = splat(-5.7146890e-3f);
  p = fma(p, t, splat(2.0648576e-2f));
  p = fma(p, t, splat(-5.3742914e-2f));
  p = fma(p, t, splat(1.3331485e-1f));
  p = fma(p, t, splat(-3.3333284e-1f));
  p = fma(p * t, size, size);
  const VI sign = reinterpret_cast<VI>(x) & INT32_MIN;
  const V y = select(size < 0.625f, p, large);
  return reinterpret_cast<V>(reinterpret_cast<VI>(y) | sign);
}

template <Activation kActivation>
HETEROSGD_INLINE V activated(V x) {
  if constexpr (kActivation == Activation::kRelu) return max(V{}, x);  // NaN stays NaN
  if constexpr (kActivation == Activation::kSigmoid) return sigmoid(x);
  return hyperbolic_tangent(x);
}

// The derivative by the argument, times `d`, from the activation's value y.
template <Activation kActivation>
HETEROSGD_INLINE V differentiated(V y, V d) {
  // Where y is NaN the derivative stays, as in the reference.
  if constexpr (kActivation == Activation::kRelu) return select(y <= 0.0f, V{}, d);
  if constexpr (kActivation == Activation::kSigmoid) return d * y * (1.0f - y);
  return d * (1.0f - y * y);
}

template <Activation kActivation>
HETEROSGD_INLINE void activate_all(float* values, size_t count) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) st(values + i, activated<kActivation>(ld(values + i)));
  const size_t rest = count - i;
  if (rest > 0) st_part(values + i, activated<kActivation>(ld_part(values + i, rest)), rest);
}

template <Activation kActivation>
HETEROSGD_INLINE void differentiate_all(const float* outputs, float* derivatives, size_t count) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    st(derivatives + i, differentiated<kActivation>(ld(outputs + i), ld(derivatives + i)));
  }
  const size_t rest = count - i;
  if (rest == 0) return;
  const V d =
      differentiated<kActivation>(ld_part(outputs + i, rest), ld_part(derivatives + i, rest));
  st_part(derivatives + i, d, rest);
}

// Applies the activation to `count` elements in place.
HETEROSGD_LOCAL void activate(Activation activation, float* values, size_t count) {
  switch (activation) {
    case Activation::kRelu:
      return activate_all<Activation::kRelu>(values, count);
    case Activation::kSigmoid:
      return activate_all<Activation::kSigmoid>(values, count);
    case Activation::kTanh:
      return activate_all<Activation::kTanh>(values, count);
  }
}

// Multiplies `count` derivatives in place by the activation's own, which follows from its output.
HETEROSGD_LOCAL void multiply_by_derivative(Activation activation, const float* outputs,
                                            float* derivatives, size_t count) {
  switch (activation) {
    case Activation::kRelu:
      return differentiate_all<Activation::kRelu>(outputs, derivatives, count);
    case Activation::kSigmoid:
      return differentiate_all<Activation::kSigmoid>(outputs, derivatives, count);
    case Activation::kTanh:
      return differentiate_all<Activation::kTanh>(outputs, derivatives, count);
  }
}

}  // namespace
}  // namespace heterosgd
