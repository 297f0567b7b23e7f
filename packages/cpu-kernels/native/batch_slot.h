// A checked copy of the caller's batch. Nobody else can change it, so that kernels may use its
// numbers as places in memory.
#pragma once

#include "contract.h"

namespace heterosgd {

// The caller's arrays; the lengths are in elements. Both kinds of offsets have rows + 1 at least.
struct HostBatch {
  size_t rows;
  const uint32_t* offsets;
  const uint32_t* indices;
  size_t indices_length;
  const float* values;
  size_t values_length;
  const uint32_t* label_offsets;
  const uint32_t* labels;
  size_t labels_length;
};

class BatchSlot {
 public:
  // Copies and checks a batch. Returns false, with what is wrong in `message`, if it isn't valid,
  // and with an empty message if memory is short. The slot then holds none.
  bool fill(Scratch& scratch, unsigned first_name, const HostBatch& host, char* message,
            size_t message_size);

  // Takes the buffers of a batch of this size. With `ordered` those of its order by features as
  // well.
  static bool plan(Scratch& scratch, unsigned first_name, size_t rows, size_t non_zeros,
                   size_t labels, bool ordered, size_t inputs);

  bool filled() const { return filled_; }
  const Batch& batch() const { return batch_; }
  // One more than the largest feature and label: what a layer must have.
  size_t features() const { return features_; }
  size_t classes() const { return classes_; }

  // Makes the order by features, once a batch. False if memory is short.
  bool order_columns(Scratch& scratch, size_t inputs);

 private:
  Batch batch_{};
  unsigned first_name_ = 0;
  size_t features_ = 0;
  size_t classes_ = 0;
  bool filled_ = false;
  bool ordered_ = false;
};

}  // namespace heterosgd
