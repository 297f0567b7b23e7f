// The output layer and its loss, fused: two passes over the weights for the softmax, one for
// independent sigmoids. No array of rows x classes is needed but the exponentials that options
// allow to be kept; beyond them the second pass computes scores again.
//
// Threads take parts of the classes, so that nothing is written by two of them; each has a dHidden
// of its own, which are added up at the end.
#pragma once

#include "output_passes.h"

namespace heterosgd {
namespace {

// Between the softmax's passes: `maxima` and `inverses` become those of all classes and the
// worker's, and the losses are written. Other threads still read what its first pass left.
HETEROSGD_LOCAL void combine(const OutputTask& task, OutputWorker& worker, float* maxima,
                             float* inverses, bool writes_losses) {
  for (size_t b = 0; b < task.rows.padded; b += kLanes) {
    V maximum = ld(task.workers[0].maxima + b);
    for (size_t t = 1; t < task.threads; t++)
      maximum = max(ld(task.workers[t].maxima + b), maximum);
    V sum = V{};
    V low = V{};
    for (size_t t = 0; t < task.threads; t++) {
      const OutputWorker& other = task.workers[t];
      const V factor = exponential(ld(other.maxima + b) - maximum);
      sum += ld(other.sums + b) * factor;
      low += ld(other.lows + b) * factor;
    }
    sum += low;
    st(maxima + b, maximum);
    st(inverses + b, 1.0f / sum);
    if (!writes_losses) continue;
    float maximum_of[kLanes];
    float sum_of[kLanes];
    st(maximum_of, maximum);
    st(sum_of, sum);
    const size_t end = least(kLanes, task.batch->rows - least(task.batch->rows, b));
    for (size_t i = 0; i < end; i++) {
      double loss = static_cast<double>(maximum_of[i]) + ::log(static_cast<double>(sum_of[i]));
      for (size_t t = 0; t < task.threads; t++) loss += task.workers[t].losses[b + i];
      task.losses[b + i] = task.labelled[b + i] != 0 ? static_cast<float>(loss) : 0.0f;
    }
  }
  worker.maxima = maxima;
  worker.sums = inverses;
}

// The threads' parts of dHidden added up, for the thread's share of the rows.
HETEROSGD_LOCAL void collect_d_hidden(const OutputTask& task, size_t thread) {
  const size_t rows = task.batch->rows;
  const size_t units = task.units.columns;
  const Range own = share(rows, 1, thread, task.threads);
  for (size_t i = 0; i < task.units.count; i++) {
    const size_t width = task.units.width(i);
    const size_t filled = task.units.filled(i);
    for (size_t row = own.begin; row < own.end; row++) {
      const size_t at = i * kPanel * rows + row * width;
      float* to = task.d_hidden + row * units + i * kPanel;
      for (size_t j = 0; j < filled; j += kLanes) {
        V sum = ld(task.workers[0].d_hidden + at + j);
        for (size_t t = 1; t < task.threads; t++) sum += ld(task.workers[t].d_hidden + at + j);
        if (j + kLanes <= filled) {
          st(to + j, sum);
        } else {
          st_part(to + j, sum, filled - j);
        }
      }
    }
  }
}

HETEROSGD_LOCAL void sigmoid_losses(const OutputTask& task) {
  for (size_t row = 0; row < task.batch->rows; row++) {
    double loss = 0.0;
    for (size_t t = 0; t < task.threads; t++) loss += task.workers[t].losses[row];
    task.losses[row] = task.labelled[row] != 0 ? static_cast<float>(loss) : 0.0f;
  }
}

// One thread's work on the step. `wait` returns when all threads have come to it.
template <class Wait>
HETEROSGD_INLINE void output_work(const OutputTask& task, size_t thread, Wait&& wait) {
  OutputWorker& worker = task.workers[thread];
  pack_hidden(task, thread);
  wait();
  if (task.loss == Loss::kSoftmax) {
    first_pass(task, worker);
    wait();
    OutputWorker second = worker;
    float* combined = worker.lows + task.rows.padded;
    combine(task, second, combined, combined + task.rows.padded, thread == 0);
    if (task.goes_back()) second_pass(task, second);
  } else {
    second_pass(task, worker);
  }
  if (task.loss == Loss::kSoftmax && task.d_hidden == nullptr) return;
  wait();
  if (task.loss == Loss::kSigmoid && thread == 0) sigmoid_losses(task);
  if (task.d_hidden != nullptr) collect_d_hidden(task, thread);
}

HETEROSGD_INLINE OutputTask output_task(const Batch& batch, const float* hidden, const Layer& layer,
                                        Loss loss, const Gradient& gradient, float* d_hidden,
                                        float* losses, size_t threads) {
  const Panels rows(batch.rows);
  return OutputTask{&batch,
                    hidden,
                    &layer,
                    loss,
                    &gradient,
                    d_hidden,
                    losses,
                    threads,
                    rows,
                    Panels(layer.inputs),
                    tile_stride(rows.padded),
                    false,
                    false,
                    nullptr,
                    nullptr,
                    nullptr,
                    nullptr,
                    nullptr};
}

HETEROSGD_LOCAL void output(Device& device, const Batch& batch, const float* hidden,
                            const Layer& layer, Loss loss, const Gradient& gradient,
                            const OutputOptions& options, float* d_hidden, float* losses) {
  const size_t threads = device.pool.threads();
  OutputTask task = output_task(batch, hidden, layer, loss, gradient, d_hidden, losses, threads);
  if (!prepare_output(task, device.scratch, 0, options)) return;
  parallel(device.pool,
           [&](size_t thread) { output_work(task, thread, [&] { device.pool.barrier(); }); });
}

// The same on the calling thread alone, with the buffers that `scratch` has for `thread`. Several
// threads may do so at once, even on the same layer (without locks: each may see another's update
// half done). Of the batch only its rows and labels count. False if memory can't be had.
HETEROSGD_LOCAL bool output_alone(Scratch& scratch, size_t thread, const Batch& batch,
                                  const float* hidden, const Layer& layer, Loss loss,
                                  const Gradient& gradient, const OutputOptions& options,
                                  float* d_hidden, float* losses) {
  OutputTask task = output_task(batch, hidden, layer, loss, gradient, d_hidden, losses, 1);
  if (!prepare_output(task, scratch, thread, options)) return false;
  output_work(task, 0, [] {});
  return true;
}

}  // namespace
}  // namespace heterosgd
