// What the threads of one output step share, and what each has of its own.
//
// Classes are worked on in blocks whose scores and weights stay in the second cache. A block's
// scores are class-major (one class's for all rows, then the next class's): maxima and sums over
// classes are then vertical over vectors of rows, and both products of the backward pass read them
// in order.
#pragma once

#include "../names.h"
#include "few_rows.h"
#include "gemm.h"
#include "pairs.h"
#include "parallel.h"

namespace heterosgd {
namespace {

// Classes of a block, at most; a multiple of every kTileRows.
constexpr size_t kBlockClasses = 96;
// Rows of the batch whose hidden values are multiplied at a time for the weights' gradient, so that
// a panel of them stays in the first cache.
constexpr size_t kBlockRows = 128;

// One thread's part.
struct OutputWorker {
  Range classes;       // its own
  size_t block;        // classes of its blocks (of the last one fewer)
  size_t kept_blocks;  // how many of them keep their exponentials
  float* tile;         // block x stride: scores or derivatives
  float* by_rows;      // with pairs: the derivatives in pairs of rows,
  float* by_classes;   // and in pairs of classes
  float* scores;       // block x kPanel: scores of one panel of rows
  float* kept;         // kept_blocks x block x padded rows: exponentials, panel by panel
  float* kept_maxima;  // kept_blocks x padded rows: what they are relative to
  float* maxima;       // a row: largest score so far; in the second pass of all
  float* sums;        // a row: sum of exponentials relative to the maximum; then 1 / the sum of all
  float* lows;        // a row: what rounding left out of the sum
  double* losses;     // a row: minus its labels' scores; with the sigmoid the loss
  uint32_t* cursors;  // a row: its first label that no earlier block has; twice
  float* weights;     // a panel of the block's weights as they were; with pairs, of all units
  float* d_hidden;    // in panels of units
  float* gradient;    // block x units, for a rule
  float* edge;        // for panels that aren't full
  float* bias;        // block x kLanes: sums of derivatives
};

struct OutputTask {
  const Batch* batch;
  const float* hidden;
  const Layer* layer;
  Loss loss;
  const Gradient* gradient;
  float* d_hidden;
  float* losses;
  size_t threads;
  Panels rows;
  Panels units;
  size_t stride;          // elements from one class of a tile to the next
  bool pairs;             // whether products are in bfloat16, and all that is packed in pairs
  bool streams;           // whether kept exponentials are too many for the caches
  float* hidden_panels;   // hidden rows transposed, in panels of rows
  float* scaled_hidden;   // times the gradient's scale, in panels of units
  float* targets;         // a row: what is wanted at its labels, 0 without labels
  int32_t* labelled;      // a row: all ones if it has labels, else 0
  OutputWorker* workers;  // one a thread

  bool wants_gradient() const { return gradient->rule != Rule::kNone; }
  bool goes_back() const { return wants_gradient() || d_hidden != nullptr; }
};

HETEROSGD_INLINE size_t label_count(const Batch& batch, size_t row) {
  return batch.label_offsets[row + 1] - batch.label_offsets[row];
}

// An odd number of cache lines: with an even power of two all classes of one row would fall into
// the same few sets of the cache.
HETEROSGD_INLINE size_t tile_stride(size_t padded_rows) {
  const size_t lines = (padded_rows + 15) / 16;
  return 16 * (lines | 1);
}

// The largest of those blocks of about equal size that `classes` divide into.
HETEROSGD_INLINE size_t block_size(size_t classes) {
  const size_t blocks = most(1, (classes + kBlockClasses - 1) / kBlockClasses);
  return most(kTileRows, round_up((classes + blocks - 1) / blocks, kTileRows));
}

// Above this many floats kept exponentials go past the caches, which they would only sweep.
constexpr size_t kStreamedFloats = size_t{1} << 20;

// Takes one thread's buffers. `share` is how many floats it may keep.
HETEROSGD_LOCAL bool prepare_worker(OutputTask& task, Scratch& scratch, size_t thread, size_t at,
                                    size_t share_of_kept) {
  OutputWorker& worker = task.workers[thread];
  const size_t rows = task.batch->rows;
  const size_t padded = task.rows.padded;
  worker.classes = share(task.layer->outputs, kTileRows, thread, task.threads);
  const size_t classes = worker.classes.end - worker.classes.begin;
  worker.block = block_size(classes);
  worker.kept_blocks = 0;
  worker.kept = worker.kept_maxima = worker.weights = worker.d_hidden = worker.gradient = nullptr;
  bool ok = true;
  const auto floats = [&](ScratchName name, size_t count) {
    float* buffer = scratch.floats(name, at, count);
    ok = ok && buffer != nullptr;
    return buffer;
  };

  if (task.loss == Loss::kSoftmax && task.goes_back()) {
    const size_t blocks = (classes + worker.block - 1) / worker.block;
    worker.kept_blocks = least(blocks, share_of_kept / ((worker.block + 1) * padded));
    worker.kept = floats(kKeptBuffer, worker.kept_blocks * worker.block * padded);
    worker.kept_maxima = floats(kKeptMaximaBuffer, worker.kept_blocks * padded);
  }
  worker.tile = floats(kTileBuffer, worker.block * task.stride);
  worker.scores = floats(kScoresBuffer, worker.block * kPanel);
  worker.maxima = floats(kWorkerRowsBuffer, 5 * padded);
  if (!ok) return false;
  worker.sums = worker.maxima + padded;
  worker.lows = worker.sums + padded;
  worker.losses = static_cast<double*>(scratch.bytes(kLossBuffer, at, padded * sizeof(double)));
  worker.cursors = scratch.words(kCursorBuffer, at, 2 * padded);
  worker.bias = floats(kBiasBuffer, worker.block * (kLanes + 1));
  if (task.pairs) {
    worker.by_rows = floats(kPairsBuffer, worker.block * task.stride);
    worker.by_classes =
        worker.by_rows == nullptr ? nullptr : worker.by_rows + worker.block / 2 * task.stride;
  }
  if (task.d_hidden != nullptr || task.pairs) {
    worker.weights = floats(kWeightsBuffer,
                            worker.block * (task.pairs ? task.units.padded : kPanel));
  }
  if (task.d_hidden != nullptr) {
    worker.d_hidden = floats(kDHiddenBuffer, rows * task.units.padded);
  }
  if (task.wants_gradient()) {
    worker.edge = floats(kEdgeBuffer, worker.block * kPanel);
    if (task.gradient->rule != Rule::kAdd) {
      worker.gradient = floats(kGradientBuffer, worker.block * task.units.columns);
    }
  }
  return ok && worker.losses != nullptr && worker.cursors != nullptr;
}

// Takes all buffers of a step, thread i's under thread `first_thread + i` of the scratch. False if
// memory can't be had.
HETEROSGD_LOCAL bool prepare_output(OutputTask& task, Scratch& scratch, size_t first_thread,
                                    const OutputOptions& options) {
  const size_t rows = task.batch->rows;
  const size_t padded = task.rows.padded;
  const size_t kept = most(padded, task.stride) * task.layer->outputs;
  task.pairs = HETEROSGD_BF16 && options.bf16 && !is_few(rows);
  task.streams = least(kept, options.kept_floats) > kStreamedFloats;
  task.workers = static_cast<OutputWorker*>(
      scratch.bytes(kWorkersBuffer, first_thread, task.threads * sizeof(OutputWorker)));
  task.targets = scratch.floats(kRowsBuffer, first_thread, 2 * padded);
  task.hidden_panels = scratch.floats(kHiddenBuffer, first_thread, padded * task.units.columns);
  task.scaled_hidden = nullptr;
  if (task.wants_gradient()) {
    task.scaled_hidden = scratch.floats(kScaledBuffer, first_thread, rows * task.units.padded);
    if (task.scaled_hidden == nullptr) return false;
  }
  if (task.workers == nullptr || task.targets == nullptr || task.hidden_panels == nullptr) {
    return false;
  }
  task.labelled = reinterpret_cast<int32_t*>(task.targets + padded);
  for (size_t row = 0; row < padded; row++) {
    const size_t labels = row < rows ? label_count(*task.batch, row) : 0;
    task.labelled[row] = labels > 0 ? -1 : 0;
    task.targets[row] = labels == 0                   ? 0.0f
                        : task.loss == Loss::kSoftmax ? 1.0f / static_cast<float>(labels)
                                                      : 1.0f;
  }
  for (size_t thread = 0; thread < task.threads; thread++) {
    const size_t share_of_kept = options.kept_floats / task.threads;
    if (!prepare_worker(task, scratch, thread, first_thread + thread, share_of_kept)) return false;
  }
  return true;
}

// Lays out the hidden rows for the products; threads take turns with the panels.
HETEROSGD_LOCAL void pack_hidden(const OutputTask& task, size_t thread) {
  const size_t rows = task.batch->rows;
  const size_t units = task.units.columns;
  const float scale = task.gradient->rule == Rule::kAdd ? task.gradient->scale : 1.0f;
  const size_t scaled_panels = task.wants_gradient() ? task.units.count : 0;
#if HETEROSGD_BF16
  if (task.pairs) {
    for (size_t i = thread; i < task.rows.count; i += task.threads) {
      pack_transposed_pairs(task.hidden, units, task.rows, i,
                            task.hidden_panels + i * kPanel * pair_count(units));
    }
    for (size_t i = thread; i < scaled_panels; i += task.threads) {
      pack_row_pairs(task.hidden, rows, units, task.units, i, scale,
                     task.scaled_hidden + i * kPanel * pair_count(rows));
    }
    return;
  }
#endif
  for (size_t i = thread; i < task.rows.count; i += task.threads) {
    pack_transposed(task.hidden, units, units, task.rows, i,
                    task.hidden_panels + i * kPanel * units);
  }
  for (size_t i = thread; i < scaled_panels; i += task.threads) {
    pack_panel(task.hidden, rows, units, task.units, i, scale,
               task.scaled_hidden + i * kPanel * rows);
  }
}

// Points the cursors at every row's first label that is one of the thread's classes.
HETEROSGD_LOCAL void reset_cursors(const OutputTask& task, OutputWorker& worker) {
  const Batch& batch = *task.batch;
  for (size_t row = 0; row < batch.rows; row++) {
    uint32_t low = batch.label_offsets[row];
    uint32_t high = batch.label_offsets[row + 1];
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (batch.labels[middle] < worker.classes.begin) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    worker.cursors[row] = low;
  }
}

// Calls visit(row, class) for the labels below class `end` that no earlier block had, of rows
// `from` to `to`. Labels ascend within a row, so that one cursor a row walks through them.
template <class Visit>
HETEROSGD_INLINE void pass_labels(const OutputTask& task, OutputWorker& worker, size_t from,
                                  size_t to, size_t end, Visit&& visit) {
  const Batch& batch = *task.batch;
  for (size_t row = from; row < to; row++) {
    uint32_t i = worker.cursors[row];
    const uint32_t stop = batch.label_offsets[row + 1];
    for (; i < stop && batch.labels[i] < end; i++) visit(row, size_t{batch.labels[i]});
    worker.cursors[row] = i;
  }
}

}  // namespace
}  // namespace heterosgd
