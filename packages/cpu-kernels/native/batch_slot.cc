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

struct Rows {
  uint32_t* features;
  uint32_t* labels;
};

struct Entries {
  uint32_t* indices;
  float* values;
  uint32_t* labels;
};

struct Columns {
  uint32_t* index;
  uint32_t* end;
  uint32_t* row;
  float* value;
  uint32_t* slots;
};

bool take_rows(Scratch& scratch, unsigned first_name, size_t rows, Rows* taken) {
  taken->features = scratch.words(first_name + kSlotOffsets, 0, rows + 1);
  taken->labels = scratch.words(first_name + kSlotLabelOffsets, 0, rows + 1);
  return taken->features != nullptr && taken->labels != nullptr;
}

bool take_entries(Scratch& scratch, unsigned first_name, size_t non_zeros, size_t labels,
                  Entries* taken) {
  taken->indices = scratch.words(first_name + kSlotIndices, 0, non_zeros + kPrefetchAhead);
  taken->values = scratch.floats(first_name + kSlotValues, 0, non_zeros + kPrefetchAhead);
  taken->labels = scratch.words(first_name + kSlotLabels, 0, labels);
  return taken->indices != nullptr && taken->values != nullptr && taken->labels != nullptr;
}

bool take_columns(Scratch& scratch, unsigned first_name, size_t non_zeros, size_t inputs,
                  Columns* taken) {
  taken->index = scratch.words(first_name + kSlotColumnIndex, 0, non_zeros);
  taken->end = scratch.words(first_name + kSlotColumnEnd, 0, non_zeros);
  taken->row = scratch.words(first_name + kSlotColumnRow, 0, non_zeros);
  taken->value = scratch.floats(first_name + kSlotColumnValue, 0, non_zeros);
  taken->slots = scratch.words(kColumnSlotsBuffer, 0, inputs);
  return taken->index != nullptr && taken->end != nullptr && taken->row != nullptr &&
         taken->value != nullptr && taken->slots != nullptr;
}

// `from` may be null where there is nothing to copy.
void copy(const void* from, size_t words, void* to) {
  if (words > 0) std::memcpy(to, from, words * sizeof(uint32_t));
}

// Copies the offsets of `rows` rows and checks the copy: the caller's may change meanwhile.
bool take_offsets(const char* name, const char* covered, const uint32_t* from, size_t rows,
                  size_t available, uint32_t* offsets, const Message& message) {
  copy(from, rows + 1, offsets);
  if (offsets[0] != 0) {
    std::snprintf(message.text, message.size, "%s start at %u, expected 0", name, offsets[0]);
    return false;
  }
  for (size_t row = 0; row < rows; row++) {
    if (offsets[row + 1] < offsets[row]) {
      std::snprintf(message.text, message.size,
                    "%s fall from %u to %u at row %zu, expected them to ascend", name,
                    offsets[row], offsets[row + 1], row);
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
  copy(from, offsets[rows], to);
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
  Rows offsets;
  if (!take_rows(scratch, first_name, rows, &offsets)) return false;
  const size_t covered =
      host.indices_length < host.values_length ? host.indices_length : host.values_length;
  const char* shorter = host.indices_length < host.values_length ? "indices" : "values";
  if (!take_offsets("offsets", shorter, host.offsets, rows, covered, offsets.features, message) ||
      !take_offsets("labelOffsets", "labels", host.label_offsets, rows, host.labels_length,
                    offsets.labels, message)) {
    return false;
  }

  const uint32_t non_zeros = offsets.features[rows];
  Entries entries;
  if (!take_entries(scratch, first_name, non_zeros, offsets.labels[rows], &entries)) return false;
  uint32_t* indices = entries.indices;
  if (!take_ascending("indices", host.indices, offsets.features, rows, indices, &features_,
                      message) ||
      !take_ascending("labels", host.labels, offsets.labels, rows, entries.labels, &classes_,
                      message)) {
    return false;
  }
  copy(host.values, non_zeros, entries.values);
  const uint32_t last = non_zeros == 0 ? 0 : indices[non_zeros - 1];
  for (size_t i = 0; i < kPrefetchAhead; i++) {
    indices[non_zeros + i] = last;
    entries.values[non_zeros + i] = 0;
  }

  batch_ = Batch{};
  batch_.rows = static_cast<uint32_t>(rows);
  batch_.non_zeros = non_zeros;
  batch_.offsets = offsets.features;
  batch_.indices = indices;
  batch_.values = entries.values;
  batch_.label_offsets = offsets.labels;
  batch_.labels = entries.labels;
  filled_ = true;
  return true;
}

bool BatchSlot::order_columns(Scratch& scratch, size_t inputs) {
  if (ordered_) return true;
  Columns columns;
  if (!take_columns(scratch, first_name_, batch_.non_zeros, inputs, &columns)) return false;
  batch_.columns = column_order(batch_, columns.slots, columns.index, columns.end, columns.row,
                                columns.value);
  batch_.column_index = columns.index;
  batch_.column_end = columns.end;
  batch_.column_row = columns.row;
  batch_.column_value = columns.value;
  ordered_ = true;
  return true;
}

bool BatchSlot::plan(Scratch& scratch, unsigned first_name, size_t rows, size_t non_zeros,
                     size_t labels, bool ordered, size_t inputs) {
  Rows arrays;
  Entries entries;
  Columns columns;
  return take_rows(scratch, first_name, rows, &arrays) &&
         take_entries(scratch, first_name, non_zeros, labels, &entries) &&
         (!ordered || take_columns(scratch, first_name, non_zeros, inputs, &columns));
}

}  // namespace heterosgd
