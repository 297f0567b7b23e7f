// The names of the work buffers that are not the output step's and top-k's own (those are below 32).
// Buffers of a batch slot are kept at `thread` 0, one run of names a slot.
#pragma once

namespace heterosgd {

enum ScratchName : unsigned {
  kNameColumnSlots = 32,  // 4 bytes a feature, all zero between calls
  kNameSortKeys,
  kNameLayerGradient,
  kNameMicroHidden,
  kNameMicroDerivatives,
  kNameMicroGradient,
  kNameMicroLabels,
  kNameDenseFirst,
  kNameSlot0 = 40,
  kNameSlot1 = 52,
};

// What a slot keeps, counted from its first name.
enum SlotBuffer : unsigned {
  kSlotOffsets,
  kSlotIndices,
  kSlotValues,
  kSlotLabelOffsets,
  kSlotLabels,
  kSlotLabelClass,
  kSlotLabelRow,
  kSlotColumnIndex,
  kSlotColumnEnd,
  kSlotColumnRow,
  kSlotColumnValue,
};

}  // namespace heterosgd
