// The best classes of each row, found while the scores of a block of classes are in the cache.
// Threads take parts of the classes; their lists are merged at the end.
#pragma once

#include "output_blocks.h"

namespace heterosgd {
namespace {

// A row's best so far in descending order; equal scores in the order in which they came.
struct Ranking {
  float* scores;
  uint32_t* ids;
};

// Puts a class into a list of `filled` (at most k). Classes come in ascending order, so that a
// later one goes behind equal scores; the first k all go in, whatever their scores, so that ids are
// valid even in a diverged network.
HETEROSGD_LOCAL void insert(const Ranking& best, size_t filled, size_t k, uint32_t id,
                            float score) {
  size_t position = filled;
  if (filled == k) {
    if (!(score > best.scores[k - 1])) return;
    position--;
  }
  for (; position > 0 && score > best.scores[position - 1]; position--) {
    best.scores[position] = best.scores[position - 1];
    best.ids[position] = best.ids[position - 1];
  }
  best.scores[position] = score;
  best.ids[position] = id;
}

// One thread's part.
struct TopKWorker {
  Range classes;
  float* scores;      // a block's for one panel of rows
  float* best;        // rows x k
  uint32_t* ids;      // rows x k
  float* thresholds;  // a row: the k-th best score
  float* maxima;
  float* sums;
  float* lows;
};

struct TopKTask {
  size_t rows;
  const float* hidden;
  const Layer* layer;
  size_t k;
  size_t threads;
  Panels panels;
  float* hidden_panels;
  TopKWorker* workers;
};

HETEROSGD_LOCAL bool prepare_top_k(TopKTask& task, Scratch& scratch) {
  const size_t padded = task.panels.padded;
  task.hidden_panels = scratch.floats(kHiddenBuffer, 0, padded * task.layer->inputs);
  task.workers =
      static_cast<TopKWorker*>(scratch.bytes(kTopKBuffer, 0, task.threads * sizeof(TopKWorker)));
  if (task.hidden_panels == nullptr || task.workers == nullptr) return false;
  for (size_t thread = 0; thread < task.threads; thread++) {
    TopKWorker& worker = task.workers[thread];
    worker.classes = share(task.layer->outputs, kTileRows, thread, task.threads);
    worker.scores = scratch.floats(kScoresBuffer, thread, kBlockClasses * kPanel);
    worker.best = scratch.floats(kBestBuffer, thread, task.rows * task.k);
    worker.ids = scratch.words(kBestIdsBuffer, thread, task.rows * task.k);
    worker.thresholds = scratch.floats(kWorkerRowsBuffer, thread, 4 * padded);
    if (worker.scores == nullptr || worker.best == nullptr || worker.ids == nullptr ||
        worker.thresholds == nullptr) {
      return false;
    }
    worker.maxima = worker.thresholds + padded;
    worker.sums = worker.maxima + padded;
    worker.lows = worker.sums + padded;
  }
  return true;
}

// Ranks a block's scores (count x width) for the rows of one panel. The first `k` classes of a
// thread all go in; from then on most vectors of rows hold nothing above the thresholds.
HETEROSGD_LOCAL void rank(const TopKTask& task, const TopKWorker& worker, size_t first,
                          size_t count, size_t panel, size_t width) {
  const size_t from = panel * kPanel;
  const size_t rows = task.panels.filled(panel);
  const size_t k = task.k;
  const auto put = [&](size_t c, size_t row) {
    const size_t seen = first + c - worker.classes.begin;
    const size_t at = (from + row) * k;
    insert({worker.best + at, worker.ids + at}, least(seen, k), k, static_cast<uint32_t>(first + c),
           worker.scores[c * width + row]);
    if (seen + 1 >= k) worker.thresholds[from + row] = worker.best[at + k - 1];
  };
  for (size_t c = 0; c < count; c++) {
    if (first + c - worker.classes.begin < k) {
      for (size_t row = 0; row < rows; row++) put(c, row);
      continue;
    }
    for (size_t j = 0; j < width; j += kLanes) {
      uint32_t above =
          lanes_above(ld(worker.scores + c * width + j), ld(worker.thresholds + from + j));
      for (; above != 0; above &= above - 1) {
        const size_t row = j + static_cast<size_t>(__builtin_ctz(above));
        if (row < rows) put(c, row);
      }
    }
  }
}

HETEROSGD_LOCAL void rank_classes(const TopKTask& task, const TopKWorker& worker) {
  const size_t units = task.layer->inputs;
  const size_t padded = task.panels.padded;
  for (size_t row = 0; row < padded; row++) {
    worker.thresholds[row] = -__FLT_MAX__;
    worker.maxima[row] = -__FLT_MAX__;
    worker.sums[row] = worker.lows[row] = 0.0f;
  }
  for (size_t first = worker.classes.begin; first < worker.classes.end; first += kBlockClasses) {
    const size_t count = least(kBlockClasses, worker.classes.end - first);
    const size_t next = least(kBlockClasses, worker.classes.end - first - count);
    Ahead ahead(task.layer->weights + (first + count) * units, next * units,
                (count + kTileRows - 1) / kTileRows * task.panels.count);
    for (size_t i = 0; i < task.panels.count; i++) {
      const size_t from = i * kPanel;
      const size_t width = task.panels.width(i);
      panel_product<true>(count, width, task.layer->weights + first * units, units,
                          task.hidden_panels + i * kPanel * units, width, units, Start::kRowValue,
                          task.layer->bias + first, worker.scores, width, ahead);
      rank(task, worker, first, count, i, width);
      if (width == kPanel) {
        add_exponentials<2, Keep::kNot>(worker.scores, count, nullptr, nullptr,
                                        worker.maxima + from, worker.sums + from,
                                        worker.lows + from);
      } else {
        add_exponentials<1, Keep::kNot>(worker.scores, count, nullptr, nullptr,
                                        worker.maxima + from, worker.sums + from,
                                        worker.lows + from);
      }
    }
  }
}

// One row's lists of all threads, in the order of their classes, into one.
HETEROSGD_LOCAL void merge_row(const TopKTask& task, size_t row, uint32_t* ids, float* logits,
                               float* log_sum_exp) {
  const size_t k = task.k;
  const Ranking best{logits + row * k, ids + row * k};
  size_t filled = 0;
  float maximum = -__FLT_MAX__;
  for (size_t t = 0; t < task.threads; t++) {
    const TopKWorker& worker = task.workers[t];
    const size_t count = least(k, worker.classes.end - worker.classes.begin);
    for (size_t i = 0; i < count; i++) {
      insert(best, filled, k, worker.ids[row * k + i], worker.best[row * k + i]);
      filled = least(filled + 1, k);
    }
    if (worker.maxima[row] > maximum) maximum = worker.maxima[row];
  }
  double sum = 0.0;
  for (size_t t = 0; t < task.threads; t++) {
    const TopKWorker& worker = task.workers[t];
    const double own =
        static_cast<double>(worker.sums[row]) + static_cast<double>(worker.lows[row]);
    sum += own * ::exp(static_cast<double>(worker.maxima[row]) - static_cast<double>(maximum));
  }
  log_sum_exp[row] = static_cast<float>(static_cast<double>(maximum) + ::log(sum));
}

HETEROSGD_LOCAL void top_k(Device& device, size_t rows, const float* hidden, const Layer& layer,
                           size_t k, uint32_t* ids, float* logits, float* log_sum_exp) {
  TopKTask task{rows, hidden, &layer, k, device.pool.threads(), Panels(rows), nullptr, nullptr};
  if (!prepare_top_k(task, device.scratch)) return;
  parallel(device.pool, [&](size_t thread) {
    for (size_t i = thread; i < task.panels.count; i += task.threads) {
      pack_transposed(hidden, layer.inputs, layer.inputs, task.panels, i,
                      task.hidden_panels + i * kPanel * layer.inputs);
    }
    device.pool.barrier();
    rank_classes(task, task.workers[thread]);
    device.pool.barrier();
    const Range own = share(rows, 1, thread, task.threads);
    for (size_t row = own.begin; row < own.end; row++)
      merge_row(task, row, ids, logits, log_sum_exp);
  });
}

}  // namespace
}  // namespace heterosgd
