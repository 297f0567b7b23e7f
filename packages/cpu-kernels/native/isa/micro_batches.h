// Many training steps in one call: threads take the batch's next rows in turn and run whole steps
// of plain SGD on the shared parameters without locks (Recht, Re, Wright, Niu 2011, Hogwild). With
// one thread the steps run in order.
#pragma once

#include "dense.h"
#include "gather.h"
#include "output.h"
#include "scatter.h"

namespace heterosgd {
namespace {

struct MicroTask {
  Scratch* scratch;
  const Batch* batch;
  size_t layer_count;
  const Layer* layers;
  Activation activation;
  Loss loss;
  size_t micro_rows;
  float learning_rate;
  OutputOptions options;  // for each thread
  float* losses;
};

// Where one thread keeps a step's values: activations of every layer but the last, and derivatives
// by them, one after the other.
struct MicroBuffers {
  float* outputs;
  float* d_outputs;
  float* dense;
};

HETEROSGD_LOCAL MicroBuffers micro_buffers(const MicroTask& task, size_t thread) {
  size_t units = 0;
  size_t dense = 0;
  for (size_t i = 0; i + 1 < task.layer_count; i++) {
    // Each begins at a cache line.
    units += round_up(task.micro_rows * task.layers[i].outputs, 16);
    if (i > 0) dense = most(dense, dense_buffer(task.micro_rows, task.layers[i]));
  }
  MicroBuffers buffers;
  buffers.outputs = task.scratch->floats(kMicroBatchBuffer, thread, 2 * units);
  buffers.d_outputs = buffers.outputs == nullptr ? nullptr : buffers.outputs + units;
  buffers.dense = task.scratch->floats(kDenseBuffer, thread, dense);
  return buffers;
}

HETEROSGD_INLINE Gradient in_place(const Layer& layer, float scale) {
  Gradient gradient{};
  gradient.rule = Rule::kAdd;
  gradient.scale = scale;
  gradient.weights = const_cast<float*>(layer.weights);
  gradient.bias = const_cast<float*>(layer.bias);
  return gradient;
}

// One step on rows begin .. end - 1. False if memory can't be had.
HETEROSGD_LOCAL bool micro_step(const MicroTask& task, size_t thread, const MicroBuffers& buffers,
                                size_t begin, size_t end) {
  Batch batch = *task.batch;
  batch.rows = static_cast<uint32_t>(end - begin);
  batch.offsets += begin;
  batch.label_offsets += begin;
  const size_t rows = batch.rows;
  const float scale = -task.learning_rate / static_cast<float>(rows);
  const size_t last = task.layer_count - 1;

  gather_rows(batch, {0, rows}, task.layers[0], task.activation, buffers.outputs);
  size_t at = 0;
  for (size_t i = 1; i < last; i++) {
    const size_t next = at + round_up(task.micro_rows * task.layers[i - 1].outputs, 16);
    dense_rows({0, rows}, buffers.outputs + at, task.layers[i], task.activation,
               buffers.outputs + next, buffers.dense);
    at = next;
  }
  const Layer& top = task.layers[last];
  if (!output_alone(*task.scratch, thread, batch, buffers.outputs + at, top, task.loss,
                    in_place(top, scale), task.options,
                    buffers.d_outputs + at, task.losses + begin)) {
    return false;
  }
  for (size_t i = last - 1; i > 0; i--) {
    const Layer& layer = task.layers[i];
    const size_t before = at - round_up(task.micro_rows * layer.inputs, 16);
    dense_back_rows({0, rows}, layer, task.activation, buffers.outputs + at, buffers.d_outputs + at,
                    buffers.d_outputs + before, buffers.dense);
    dense_back_units({0, layer.outputs}, rows, buffers.outputs + before, layer,
                     buffers.d_outputs + at, in_place(layer, scale), buffers.dense);
    at = before;
  }
  const Layer& first = task.layers[0];
  scatter_alone(batch, first.outputs, task.activation, buffers.outputs, buffers.d_outputs,
                in_place(first, scale));
  return true;
}

HETEROSGD_LOCAL void train_micro_batches(Device& device, const Batch& batch, size_t layer_count,
                                         const Layer* layers, Activation activation, Loss loss,
                                         size_t micro_rows, float learning_rate,
                                         const OutputOptions& options, float* losses) {
  const size_t most_rows = least(micro_rows, batch.rows);
  const OutputOptions own{options.kept_floats / device.pool.threads(), options.bf16};
  const MicroTask task{&device.scratch, &batch,    layer_count,   layers, activation,
                       loss,            most_rows, learning_rate, own,    losses};
  for (size_t thread = 0; thread < device.pool.threads(); thread++) {
    const MicroBuffers buffers = micro_buffers(task, thread);
    if (buffers.outputs == nullptr || buffers.dense == nullptr) return;
  }
  size_t taken = 0;
  parallel(device.pool, [&](size_t thread) {
    const MicroBuffers buffers = micro_buffers(task, thread);
    for (;;) {
      const size_t begin = __atomic_fetch_add(&taken, most_rows, __ATOMIC_RELAXED);
      if (begin >= batch.rows) return;
      const size_t end = least(begin + most_rows, batch.rows);
      if (!micro_step(task, thread, buffers, begin, end)) return;
    }
  });
}

}  // namespace
}  // namespace heterosgd
