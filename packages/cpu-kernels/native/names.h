// The names of the work buffers that are not the output step's and top-k's own (those are below 32).
#pragma once

namespace heterosgd {

enum ScratchName : unsigned {
  kNameColumnSlots = 32,  // 4 bytes a feature, all zero between calls
  kNameDense,             // panels and gradients of dense layers
  kNameMicroBatch,        // activations and derivatives of one step
  // A run of names for each batch slot, counted by SlotBuffer.
  kNameSlot0 = 40,
  kNameSlot1 = 52,
};

enum SlotBuffer : unsigned {
  kSlotOffsets,
  kSlotIndices,
  kSlotValues,
  kSlotLabelOffsets,
  kSlotLabels,
  kSlotColumnIndex,
  kSlotColumnEnd,
  kSlotColumnRow,
  kSlotColumnValue,
};

}  // namespace heterosgd
