// The passes of one thread over its classes, block by block.
#pragma once

#include "output_blocks.h"
#include "rules.h"

namespace heterosgd {
namespace {

// Classes first … first + count - 1, the index-th block of a worker.
struct Block {
  size_t first;
  size_t count;
  size_t index;
};

template <class Visit>
HETEROSGD_INLINE void for_blocks(const OutputWorker& worker, Visit&& visit) {
  size_t index = 0;
  for (size_t first = worker.classes.begin; first < worker.classes.end; first += worker.block) {
    visit(Block{first, least(worker.block, worker.classes.end - first), index++});
  }
}

// How many tiles of `rows` by a panel it takes to fill `panels`.
HETEROSGD_INLINE size_t tile_count(size_t rows, const Panels& panels) {
  return (rows + kTileRows - 1) / kTileRows * panels.count;
}

// The weights of the block after this one, to be fetched while this one is worked on.
HETEROSGD_INLINE Ahead next_weights(const OutputTask& task, const OutputWorker& worker,
                                    const Block& block, size_t tiles) {
  const size_t first = block.first + block.count;
  if (first >= worker.classes.end) return Ahead();
  const size_t count = least(worker.block, worker.classes.end - first);
  const size_t units = task.units.columns;
  return Ahead(task.layer->weights + first * units, count * units, tiles);
}

// What has to be done before a block's scores.
HETEROSGD_INLINE void prepare_scores(const OutputTask& task, OutputWorker& worker,
                                     const Block& block) {
#if HETEROSGD_BF16
  if (!task.pairs) return;
  const size_t units = task.units.columns;
  pair_neighbours(task.layer->weights + block.first * units, block.count, units, worker.weights);
#else
  (void)task, (void)worker, (void)block;
#endif
}

// Scores of a block for the i-th panel of rows.
HETEROSGD_INLINE void score(const OutputTask& task, const OutputWorker& worker, const Block& block,
                            size_t i, float* out, size_t stride, Ahead& ahead) {
  const size_t units = task.units.columns;
  const size_t width = task.rows.width(i);
  const float* weights = task.layer->weights + block.first * units;
  const float* bias = task.layer->bias + block.first;
  if (is_few(task.batch->rows)) {
    ahead.fetch_all();
    few_scores(task.batch->rows, units, block.count, task.hidden, weights, bias, out, stride,
               width);
    return;
  }
  if (task.pairs) {
    const size_t pairs = pair_count(units);
    panel_product<true>(block.count, width, worker.weights, pairs,
                        task.hidden_panels + i * kPanel * pairs, width, pairs, Start::kRowValue,
                        bias, out, stride, ahead, true);
    return;
  }
  panel_product<true>(block.count, width, weights, units, task.hidden_panels + i * kPanel * units,
                      width, units, Start::kRowValue, bias, out, stride, ahead);
}

HETEROSGD_INLINE float* kept_panel(const OutputTask& task, const OutputWorker& worker,
                                   const Block& block, size_t i) {
  return worker.kept + block.index * worker.block * task.rows.padded + i * kPanel * block.count;
}

// First pass of the softmax: maxima and sums of exponentials of the thread's classes, and its
// labels' scores.
HETEROSGD_LOCAL void first_pass(const OutputTask& task, OutputWorker& worker) {
  const size_t padded = task.rows.padded;
  for (size_t row = 0; row < padded; row++) {
    worker.maxima[row] = -__FLT_MAX__;
    worker.sums[row] = worker.lows[row] = 0.0f;
    worker.losses[row] = 0.0;
  }
  reset_cursors(task, worker);
  for_blocks(worker, [&](const Block& block) {
    Ahead ahead = next_weights(task, worker, block, tile_count(block.count, task.rows));
    const size_t end = block.first + block.count;
    prepare_scores(task, worker, block);
    for (size_t i = 0; i < task.rows.count; i++) {
      const size_t from = i * kPanel;
      const size_t width = task.rows.width(i);
      const float* scores = worker.scores;
      score(task, worker, block, i, worker.scores, width, ahead);
      pass_labels(task, worker, from, from + task.rows.filled(i), end, [&](size_t row, size_t c) {
        worker.losses[row] -= scores[(c - block.first) * width + row - from] * task.targets[row];
      });
      float* maxima = worker.maxima + from;
      float* sums = worker.sums + from;
      float* lows = worker.lows + from;
      if (block.index >= worker.kept_blocks) {
        if (width == kPanel) {
          add_exponentials<2, Keep::kNot>(scores, block.count, nullptr, nullptr, maxima, sums,
                                          lows);
        } else {
          add_exponentials<1, Keep::kNot>(scores, block.count, nullptr, nullptr, maxima, sums,
                                          lows);
        }
        continue;
      }
      float* kept = kept_panel(task, worker, block, i);
      float* relative = worker.kept_maxima + block.index * padded + from;
      if (width < kPanel) {
        add_exponentials<1, Keep::kCached>(scores, block.count, kept, relative, maxima, sums, lows);
      } else if (task.streams) {
        add_exponentials<2, Keep::kStreamed>(scores, block.count, kept, relative, maxima, sums,
                                             lows);
      } else {
        add_exponentials<2, Keep::kCached>(scores, block.count, kept, relative, maxima, sums, lows);
      }
    }
  });
}

// The block's derivatives by the scores, into the tile, and their sums into the bias's.
HETEROSGD_LOCAL void differentiate(const OutputTask& task, OutputWorker& worker, const Block& block,
                                   bool kept) {
  const size_t stride = task.stride;
  Ahead ahead;
  if (!kept) prepare_scores(task, worker, block);
  for (size_t i = 0; i < task.rows.count; i++) {
    const size_t from = i * kPanel;
    const bool whole = task.rows.width(i) == kPanel;
    const int32_t* labelled = task.labelled + from;
    const RowTerms terms{worker.maxima + from, worker.sums + from, labelled};
    float* tile = worker.tile + from;
    if (kept) {
      const float* exponentials = kept_panel(task, worker, block, i);
      const float* relative = worker.kept_maxima + block.index * task.rows.padded + from;
      if (whole) {
        probabilities_of_kept<2>(exponentials, relative, block.count, terms, tile, stride,
                                 worker.bias, i == 0);
      } else {
        probabilities_of_kept<1>(exponentials, relative, block.count, terms, tile, stride,
                                 worker.bias, i == 0);
      }
      continue;
    }
    score(task, worker, block, i, tile, stride, ahead);
    if (task.loss == Loss::kSigmoid) {
      const size_t end = least(task.batch->rows, from + kPanel);
      pass_labels(task, worker, from, end, block.first + block.count, [&](size_t row, size_t c) {
        worker.losses[row] -= static_cast<double>(worker.tile[(c - block.first) * stride + row]);
      });
      if (whole) {
        logistic_of_scores<2>(block.count, labelled, tile, stride, worker.losses + from,
                              worker.bias, i == 0);
      } else {
        logistic_of_scores<1>(block.count, labelled, tile, stride, worker.losses + from,
                              worker.bias, i == 0);
      }
    } else if (whole) {
      probabilities_of_scores<2>(block.count, terms, tile, stride, worker.bias, i == 0);
    } else {
      probabilities_of_scores<1>(block.count, terms, tile, stride, worker.bias, i == 0);
    }
  }
}

// Takes the block's labels off the derivatives.
HETEROSGD_LOCAL void subtract_targets(const OutputTask& task, OutputWorker& worker,
                                      const Block& block) {
  const size_t end = block.first + block.count;
  pass_labels(task, worker, 0, task.batch->rows, end, [&](size_t row, size_t c) {
    const float target = task.targets[row];
    worker.tile[(c - block.first) * task.stride + row] -= target;
    worker.bias[(c - block.first) * kLanes] -= target;
  });
}

// Adds derivatives x weights of the block to dHidden.
HETEROSGD_LOCAL void propagate(const OutputTask& task, OutputWorker& worker, const Block& block) {
  const size_t rows = task.batch->rows;
  const size_t units = task.units.columns;
  Ahead ahead = next_weights(task, worker, block, tile_count(rows, task.units));
  for (size_t i = 0; i < task.units.count; i++) {
    const size_t width = task.units.width(i);
    const Start start = block.index == 0 ? Start::kZero : Start::kTarget;
    float* out = worker.d_hidden + i * kPanel * rows;
#if HETEROSGD_BF16
    if (task.pairs) {
      const size_t pairs = pair_count(block.count);
      pack_row_pairs(task.layer->weights + block.first * units, block.count, units, task.units, i,
                     1.0f, worker.weights);
      panel_product<false>(rows, width, worker.by_classes, task.stride, worker.weights, width,
                           pairs, start, nullptr, out, width, ahead, true);
      continue;
    }
#endif
    pack_panel(task.layer->weights + block.first * units, block.count, units, task.units, i, 1.0f,
               worker.weights);
    panel_product<false>(rows, width, worker.tile, task.stride, worker.weights, width, block.count,
                         start, nullptr, out, width, ahead);
  }
}

// Lets the gradient of the block's weights take effect.
HETEROSGD_LOCAL void apply_weights(const OutputTask& task, OutputWorker& worker, const Block& block,
                                   bool kept) {
  const Gradient& gradient = *task.gradient;
  const size_t rows = task.batch->rows;
  const size_t units = task.units.columns;
  const size_t at = block.first * units;
  const bool adds = gradient.rule == Rule::kAdd;
  float* out = adds ? gradient.weights + at : worker.gradient;
  const size_t chunks = (rows + kBlockRows - 1) / kBlockRows;
  Ahead ahead;
  if (kept && block.index + 1 < worker.kept_blocks) {
    ahead = Ahead(worker.kept + (block.index + 1) * worker.block * task.rows.padded,
                  worker.block * task.rows.padded, chunks * tile_count(block.count, task.units));
  }
  for (size_t row = 0; row < rows; row += kBlockRows) {
    const size_t count = least(kBlockRows, rows - row);
    const Start start = adds || row > 0 ? Start::kTarget : Start::kZero;
    for (size_t i = 0; i < task.units.count; i++) {
      const size_t width = task.units.width(i);
      const size_t filled = task.units.filled(i);
      if (task.pairs) {
        const float* hidden = task.scaled_hidden + i * kPanel * pair_count(rows) + row / 2 * width;
        edge_product<true>(block.count, width, filled, worker.by_rows + row / 2, task.stride / 2,
                           hidden, width, pair_count(count), start, out + i * kPanel, units,
                           worker.edge, ahead, true);
        continue;
      }
      const float* hidden = task.scaled_hidden + i * kPanel * rows + row * width;
      edge_product<true>(block.count, width, filled, worker.tile + row, task.stride, hidden, width,
                         count, start, out + i * kPanel, units, worker.edge, ahead);
    }
  }
  if (!adds) {
    apply_gradient(gradient, weights_part(gradient), at, worker.gradient, block.count * units);
  }
}

HETEROSGD_LOCAL void apply_bias(const OutputTask& task, const OutputWorker& worker,
                                const Block& block) {
  float* sums = worker.bias + worker.block * kLanes;
  for (size_t c = 0; c < block.count; c++) sums[c] = sum_lanes(ld(worker.bias + c * kLanes));
  apply_gradient(*task.gradient, bias_part(*task.gradient), block.first, sums, block.count);
}

// Second pass of the softmax, or the only one of the sigmoid: derivatives, dHidden and gradient. In
// the softmax's, `maxima` and `sums` hold all classes' maxima and inverse sums.
HETEROSGD_LOCAL void second_pass(const OutputTask& task, OutputWorker& worker) {
  reset_cursors(task, worker);
  const bool softmax = task.loss == Loss::kSoftmax;
  if (!softmax) {
    for (size_t row = 0; row < task.rows.padded; row++) worker.losses[row] = 0.0;
  }
  if (task.d_hidden != nullptr && worker.classes.begin == worker.classes.end) {
    memset(worker.d_hidden, 0, task.batch->rows * task.units.padded * sizeof(float));
  }
  const bool few = is_few(task.batch->rows) && task.d_hidden != nullptr &&
                   task.gradient->rule == Rule::kAdd &&
                   task.gradient->weights == task.layer->weights;
  OutputWorker twice = worker;  // the sigmoid passes a block's labels twice
  twice.cursors = worker.cursors + task.rows.padded;
  memcpy(twice.cursors, worker.cursors, task.batch->rows * sizeof(uint32_t));
  for_blocks(worker, [&](const Block& block) {
    const bool kept = softmax && block.index < worker.kept_blocks;
    differentiate(task, twice, block, kept);
    subtract_targets(task, worker, block);
#if HETEROSGD_BF16
    if (task.pairs && task.goes_back()) {
      pair_tile(worker.tile, block.count, task.rows.padded, task.stride, worker.by_rows,
                worker.by_classes);
    }
#endif
    if (few) {
      const size_t units = task.units.columns;
      Ahead ahead = next_weights(task, worker, block, 1);
      ahead.fetch_all();
      few_update(task.batch->rows, task.units, block.count, worker.tile, task.stride,
                 task.scaled_hidden, worker.d_hidden, block.index == 0,
                 task.gradient->weights + block.first * units);
    } else {
      if (task.d_hidden != nullptr) propagate(task, worker, block);
      if (task.wants_gradient()) apply_weights(task, worker, block, kept);
    }
    if (task.wants_gradient()) apply_bias(task, worker, block);
  });
}

}  // namespace
}  // namespace heterosgd
