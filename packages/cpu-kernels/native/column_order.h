// A batch's non-zeros feature by feature, in the order in which features first occur.
#pragma once

#include "contract.h"

namespace heterosgd {

// Fills the four arrays (each as long as the batch has non-zeros) as `Batch` describes them and
// returns the number of different features. `slots` has an element for each feature, all zero
// before and after.
uint32_t column_order(const Batch& batch, uint32_t* slots, uint32_t* index, uint32_t* end,
                      uint32_t* row, float* value);

}  // namespace heterosgd
