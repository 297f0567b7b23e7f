// Dense layers. Threads split the rows of the batch for activations and derivatives, and the units
// of the layer for its gradient; every element's sum runs in the same order whatever their number.
#pragma once

#include "../names.h"
#include "functions.h"
#include "gemm.h"
#include "parallel.h"
#include "rules.h"

namespace heterosgd {
namespace {

// Units whose gradient is made at a time, so that it is still in the cache when it takes effect.
constexpr size_t kGradientUnits = 48;

// Floats that the parts below need as `buffer`, for up to `rows` rows.
HETEROSGD_INLINE size_t dense_buffer(size_t rows, const Layer& layer) {
  const size_t forward = product_buffer(rows, layer.inputs);
  const size_t back = product_buffer(rows, layer.outputs);
  const size_t gradient = product_buffer(kGradientUnits, rows) + kGradientUnits * layer.inputs;
  return most(most(forward, back), gradient);
}

// Rows of out = activation(input W^T + bias).
HETEROSGD_LOCAL void dense_rows(Range rows, const float* input, const Layer& layer,
                                Activation activation, float* out, float* buffer) {
  const size_t count = rows.end - rows.begin;
  if (count == 0) return;
  float* to = out + rows.begin * layer.outputs;
  multiply_by_rows(count, layer.inputs, layer.outputs, input + rows.begin * layer.inputs,
                   layer.weights, layer.bias, to, buffer);
  activate(activation, to, count * layer.outputs);
}

// Rows of dZ, in place, and of dInput = dZ W.
HETEROSGD_LOCAL void dense_back_rows(Range rows, const Layer& layer, Activation activation,
                                     const float* outputs, float* d_outputs, float* d_input,
                                     float* buffer) {
  const size_t count = rows.end - rows.begin;
  if (count == 0) return;
  const size_t units = layer.outputs;
  float* d = d_outputs + rows.begin * units;
  multiply_by_derivative(activation, outputs + rows.begin * units, d, count * units);
  product<true>(count, units, layer.inputs, d, units, layer.weights, layer.inputs, Start::kZero,
                d_input + rows.begin * layer.inputs, layer.inputs, buffer);
}

// The gradient of some units, dZ^T input and the sum of dZ, takes effect.
HETEROSGD_LOCAL void dense_back_units(Range units, size_t rows, const float* input,
                                      const Layer& layer, const float* derivatives,
                                      const Gradient& gradient, float* buffer) {
  if (units.begin == units.end || gradient.rule == Rule::kNone) return;
  const Part part = weights_part(gradient);
  const size_t width = layer.inputs;
  float* values = buffer;
  float* rest = buffer + kGradientUnits * width;
  for (size_t unit = units.begin; unit < units.end; unit += kGradientUnits) {
    const size_t count = least(kGradientUnits, units.end - unit);
    product<false>(count, rows, width, derivatives + unit, layer.outputs, input, width,
                   Start::kZero, values, width, rest);
    apply_gradient(gradient, part, unit * width, values, count * width);
  }
  apply_row_sums(gradient, derivatives, rows, layer.outputs, units);
}

// Every thread's buffer, taken before any of them starts. False if memory is short.
HETEROSGD_LOCAL bool prepare_dense(Scratch& scratch, size_t threads, size_t rows,
                                   const Layer& layer) {
  for (size_t thread = 0; thread < threads; thread++) {
    if (scratch.floats(kDenseBuffer, thread, dense_buffer(rows, layer)) == nullptr) return false;
  }
  return true;
}

HETEROSGD_LOCAL void dense(Device& device, size_t rows, const float* input, const Layer& layer,
                           Activation activation, float* out) {
  const size_t threads = device.pool.threads();
  if (!prepare_dense(device.scratch, threads, rows, layer)) return;
  parallel(device.pool, [&](size_t thread) {
    float* buffer = device.scratch.floats(kDenseBuffer, thread, dense_buffer(rows, layer));
    dense_rows(share(rows, 1, thread, threads), input, layer, activation, out, buffer);
  });
}

HETEROSGD_LOCAL void dense_backward(Device& device, size_t rows, const float* input,
                                    const Layer& layer, Activation activation, const float* outputs,
                                    float* d_outputs, const Gradient& gradient, float* d_input) {
  const size_t threads = device.pool.threads();
  if (!prepare_dense(device.scratch, threads, rows, layer)) return;
  parallel(device.pool, [&](size_t thread) {
    float* buffer = device.scratch.floats(kDenseBuffer, thread, dense_buffer(rows, layer));
    dense_back_rows(share(rows, 1, thread, threads), layer, activation, outputs, d_outputs, d_input,
                    buffer);
    // The gradient needs all rows of dZ, and changes weights that dInput needs as they were.
    device.pool.barrier();
    dense_back_units(share(layer.outputs, 1, thread, threads), rows, input, layer, d_outputs,
                     gradient, buffer);
  });
}

}  // namespace
}  // namespace heterosgd
