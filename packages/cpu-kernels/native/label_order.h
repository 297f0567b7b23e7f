// A batch's labels by class, for an output layer that goes through its classes block by block.
#pragma once

#include "scratch.h"

namespace heterosgd {

// Sorts the labels by class and, within one, by row. `classes` is above the largest label. False if
// memory is short.
bool order_labels(Scratch& scratch, size_t rows, const uint32_t* label_offsets,
                  const uint32_t* labels, size_t classes, uint32_t* label_class,
                  uint32_t* label_row);

}  // namespace heterosgd
