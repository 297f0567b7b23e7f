#include "batch_slot.h"

#include <cstdio>
#include <cstring>

#include "column_order.h"
#include "names.h"

namespace heterosgd {

namespace {

struct Message {
  char* text;
  size_t size;
};

// Copies the offsets of `rows` rows and checks the copy: the caller's may change meanwhile.
bool take_offsets(const char* name, const char* covered, const uint32_t* from, size_t rows,
                  size_t available, uint32_t* offsets, const Message& message) {
  std::memcpy(offsets, from, (rows + 1) * sizeof(uint32_t));
  if (offsets[0] != 0) {
    std::snprintf(message.text, message.size, "%s start at %u, expected 0", name, offsets[0]);
    return false;
  }
  for (size_t row = 0; row < rows; row++) {
    if (offsets[row + 1] < offsets[row]) {
      std::snprintf(message.text, message.size, "%s fall from %u to %u at row %zu, expected them to ascend",
                    name, offsets[row], offsets[row + 1], row);
      return false;
    }
  }
  if (offsets[rows] > available) {
    std::snprintf(message.text, message.size, "%s end at %u, beyond the %zu elements of %s", name,
                  offsets[rows], available, covered);
    return false;
  }
  return true;
}

// Copies what the rows hold and checks the copy. Returns one more than the largest, in `bound`.
bool take_ascending(const char* name, const uint32_t* from, const uint32_t* offsets, size_t rows,
                    uint32_t* to, size_t* bound, const Message& message) {
  std::memcpy(to, from, offsets[rows] * sizeof(uint32_t));
  uint32_t largest = 0;
  for (size_t row = 0; row < rows; row++) {
    const uint32_t begin = offsets[row];
    const uint32_t end = offsets[row + 1];
    if (begin == end) continue;
    bool ascending = true;
    for (uint32_t i = begin + 1; i < end; i++) ascending &= to[i - 1] < to[i];
    if (!ascending) {
      uint32_t i = begin + 1;
      while (to[i - 1] < to[i]) i++;
      std::snprintf(message.text, message.size,
                    "%s of row %zu are not strictly ascending: %u comes before %u", name, row,
                    to[i - 1], to[i]);
      return false;
    }
    if (to[end - 1] > largest) largest = to[end - 1];
  }
  *bound = offsets[rows] == 0 ? 0 : size_t{largest} + 1;
  return true;
}

}  // namespace

bool BatchSlot::fill(Scratch& scratch, unsigned first_name, const HostBatch& host, char* text,
                     size_t text_size) {
  filled_ = false;
  ordered_ = false;
  first_name_ = first_name;
  text[0] = '\0';
  const Message message{text, text_size};
  const size_t rows = host.rows;
  auto words = [&](SlotBuffer buffer, size_t count) {
    return scratch.words(first_name + buffer, 0, count);
  };

  uint32_t* offsets = words(kSlotOffsets, rows + 1);
  uint32_t* label_offsets = words(kSlotLabelOffsets, rows + 1);
  if (offsets == nullptr || label_offsets == nullptr) return false;
  const size_t covered =
      host.indices_length < host.values_length ? host.indices_length : host.values_length;
  const char* shorter = host.indices_length < host.values_length ? "indices" : "values";
  if (!take_offsets("offsets", shorter, host.offsets, rows, covered, offsets, message) ||
      !take_offsets("labelOffsets", "labels", host.label_offsets, rows, host.labels_length,
                    label_offsets, message)) {
    return false;
  }

  const uint32_t non_zeros = offsets[rows];
  uint32_t* indices = words(kSlotIndices, size_t{non_zeros} + kPrefetchAhead);
  float* values = scratch.floats(first_name + kSlotValues, 0, size_t{non_zeros} + kPrefetchAhead);
  uint32_t* labels = words(kSlotLabels, label_offsets[rows]);
  if (indices == nullptr || values == nullptr || labels == nullptr) return false;
  if (!take_ascending("indices", host.indices, offsets, rows, indices, &features_, message) ||
      !take_ascending("labels", host.labels, label_offsets, rows, labels, &classes_, message)) {
    return false;
  }
  std::memcpy(values, host.values, non_zeros * sizeof(float));
  const uint32_t last = non_zeros == 0 ? 0 : indices[non_zeros - 1];
  for (size_t i = 0; i < kPrefetchAhead; i++) {
    indices[non_zeros + i] = last;
    values[non_zeros + i] = 0;
  }

  batch_ = Batch{};
  batch_.rows = static_cast<uint32_t>(rows);
  batch_.non_zeros = non_zeros;
  batch_.offsets = offsets;
  batch_.indices = indices;
  batch_.values = values;
  batch_.label_offsets = label_offsets;
  batch_.labels = labels;
  filled_ = true;
  return true;
}

bool BatchSlot::order_columns(Scratch& scratch, size_t inputs) {
  if (ordered_) return true;
  const size_t count = batch_.non_zeros;
  uint32_t* index = scratch.words(first_name_ + kSlotColumnIndex, 0, count);
  uint32_t* end = scratch.words(first_name_ + kSlotColumnEnd, 0, count);
  uint32_t* row = scratch.words(first_name_ + kSlotColumnRow, 0, count);
  float* value = scratch.floats(first_name_ + kSlotColumnValue, 0, count);
  uint32_t* slots = scratch.words(kNameColumnSlots, 0, inputs);
  if (index == nullptr || end == nullptr || row == nullptr || value == nullptr || slots == nullptr) {
    return false;
  }
  batch_.columns = column_order(batch_, slots, index, end, row, value);
  batch_.column_index = index;
  batch_.column_end = end;
  batch_.column_row = row;
  batch_.column_value = value;
  ordered_ = true;
  return true;
}

}  // namespace heterosgd
