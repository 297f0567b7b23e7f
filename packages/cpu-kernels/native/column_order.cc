#include "column_order.h"

namespace heterosgd {

uint32_t column_order(const Batch& batch, uint32_t* slots, uint32_t* index, uint32_t* end,
                      uint32_t* row, float* value) {
  constexpr uint32_t kAhead = kPrefetchAhead;
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch.non_zeros; i++) {
    __builtin_prefetch(slots + batch.indices[i + kAhead], 1);
    const uint32_t feature = batch.indices[i];
    uint32_t slot = slots[feature];
    if (slot == 0) {
      index[count] = feature;
      end[count] = 0;
      // One more than the position, so that 0 means none.
      slots[feature] = slot = ++count;
    }
    end[slot - 1]++;
  }
  // Counts become starts, which the filling below moves on to ends.
  uint32_t sum = 0;
  for (uint32_t slot = 0; slot < count; slot++) {
    const uint32_t size = end[slot];
    end[slot] = sum;
    sum += size;
  }
  for (uint32_t r = 0; r < batch.rows; r++) {
    for (uint32_t i = batch.offsets[r]; i < batch.offsets[r + 1]; i++) {
      const uint32_t position = end[slots[batch.indices[i]] - 1]++;
      row[position] = r;
      value[position] = batch.values[i];
    }
  }
  for (uint32_t slot = 0; slot < count; slot++) slots[index[slot]] = 0;
  return count;
}

}  // namespace heterosgd
