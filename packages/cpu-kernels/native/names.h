// The names of all work buffers of one kernels object, as `Scratch` tells them apart.
#pragma once

namespace heterosgd {

// What a batch slot keeps.
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
  kSlotBuffers,  // how many
};

enum ScratchName : unsigned {
  // The output step's, described by OutputTask and OutputWorker; top-k shares some of them.
  kWorkersBuffer,
  kRowsBuffer,
  kHiddenBuffer,
  kScaledBuffer,
  kTileBuffer,
  kScoresBuffer,
  kKeptBuffer,
  kKeptMaximaBuffer,
  kWorkerRowsBuffer,
  kLossBuffer,
  kCursorBuffer,
  kWeightsBuffer,
  kDHiddenBuffer,
  kGradientBuffer,
  kEdgeBuffer,
  kBiasBuffer,
  kPairsBuffer,
  kBestBuffer,
  kBestIdsBuffer,
  kTopKBuffer,

  kColumnSlotsBuffer,  // 4 bytes a feature, all zero between calls
  kDenseBuffer,        // panels and gradients of dense layers
  kStripesBuffer,      // where stripes of features begin in each row
  kMicroBatchBuffer,   // activations and derivatives of one step

  // A run of names for each batch slot, counted by SlotBuffer.
  kSlot0Buffers,
  kSlot1Buffers = kSlot0Buffers + kSlotBuffers,
  kScratchNames = kSlot1Buffers + kSlotBuffers,  // how many
};

}  // namespace heterosgd
