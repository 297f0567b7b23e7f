// A batch's features in stripes with about equally many non-zeros, which threads take in turn.
// There are several a thread, since frequent features stay in the caches and cost less than rare
// ones.
#pragma once

#include "../names.h"
#include "parallel.h"

namespace heterosgd {
namespace {

constexpr size_t kPartsPerThread = 4;
constexpr size_t kMostStripes = 64;
constexpr size_t kStripeSamples = 512;

struct Stripes {
  size_t count;
  uint32_t bounds[kMostStripes];  // stripe s has the features from bounds[s - 1] to bounds[s] - 1
  uint32_t* begins;  // (count + 1) x rows: where a stripe begins in a row, after the last its end
};

// The least feature with at least `wanted` of the samples below it or equal to it.
HETEROSGD_LOCAL uint32_t quantile(const uint32_t* samples, size_t count, size_t wanted,
                                  uint32_t low, uint32_t high) {
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    uint32_t below = 0;
    for (size_t i = 0; i < count; i++) below += samples[i] <= middle;
    if (below < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// False if memory can't be had.
HETEROSGD_LOCAL bool take_stripes(size_t rows, size_t threads, Scratch& scratch,
                                  Stripes* stripes) {
  stripes->count = least(kPartsPerThread * threads, kMostStripes);
  stripes->begins = scratch.words(kStripesBuffer, 0, (stripes->count + 1) * rows);
  return stripes->begins != nullptr;
}

// Finds the stripes' bounds from a sample of the non-zeros.
HETEROSGD_LOCAL void choose_stripes(const Batch& batch, Stripes* stripes) {
  const size_t count = stripes->count;
  uint32_t samples[kStripeSamples];
  const size_t taken = least(kStripeSamples, batch.non_zeros);
  uint32_t largest = 0;
  for (size_t i = 0; i < taken; i++) {
    samples[i] = batch.indices[batch.non_zeros * i / taken];
    if (samples[i] > largest) largest = samples[i];
  }
  uint32_t bound = 0;
  for (size_t s = 0; s + 1 < count; s++) {
    bound = quantile(samples, taken, taken * (s + 1) / count, bound, largest);
    stripes->bounds[s] = bound + 1;
  }
}

// Finds where each stripe begins in these rows, whose indices ascend.
HETEROSGD_LOCAL void divide_rows(const Batch& batch, const Stripes& stripes, Range rows) {
  for (size_t row = rows.begin; row < rows.end; row++) {
    uint32_t* to = stripes.begins + row;
    const uint32_t* at = batch.indices + batch.offsets[row];
    const uint32_t* end = batch.indices + batch.offsets[row + 1];
    for (size_t s = 0; s < stripes.count; s++) {
      to[s * batch.rows] = static_cast<uint32_t>(at - batch.indices);
      if (s + 1 == stripes.count) break;
      const uint32_t bound = stripes.bounds[s];
      size_t left = static_cast<size_t>(end - at);
      while (left > 0) {
        // Without a branch, which would be guessed wrong half of the time.
        const size_t half = (left + 1) / 2;
        at += at[half - 1] < bound ? half : 0;
        left -= half;
      }
    }
    to[stripes.count * batch.rows] = batch.offsets[row + 1];
  }
}

// Goes through a stripe's features row by row, ahead of the work on them.
class StripeCursor {
 public:
  StripeCursor(const Batch& batch, const uint32_t* begin, const uint32_t* end)
      : batch_(batch), begin_(begin), end_(end), at_(begin[0]), stop_(end[0]) {}

  // After the last one: features that the batch's padding repeats.
  HETEROSGD_MEMBER size_t next() {
    while (at_ == stop_) {
      if (++row_ < batch_.rows) {
        at_ = begin_[row_];
        stop_ = end_[row_];
      } else {
        at_ = batch_.non_zeros;
        stop_ = at_ + kPrefetchAhead;
      }
    }
    return batch_.indices[at_++];
  }

 private:
  const Batch& batch_;
  const uint32_t* begin_;
  const uint32_t* end_;
  uint32_t at_;
  uint32_t stop_;
  size_t row_ = 0;
};

}  // namespace
}  // namespace heterosgd
