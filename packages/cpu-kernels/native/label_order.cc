#include "label_order.h"

#include <cstring>

#include "names.h"

namespace heterosgd {

namespace {

constexpr unsigned kDigitBits = 8;
constexpr size_t kDigits = size_t{1} << kDigitBits;

// One pass of a radix sort, which keeps the order of equal digits.
void sort_by_digit(const uint64_t* from, uint64_t* to, size_t count, unsigned shift) {
  size_t starts[kDigits] = {};
  for (size_t i = 0; i < count; i++) starts[(from[i] >> shift) % kDigits]++;
  size_t sum = 0;
  for (size_t digit = 0; digit < kDigits; digit++) {
    const size_t size = starts[digit];
    starts[digit] = sum;
    sum += size;
  }
  for (size_t i = 0; i < count; i++) to[starts[(from[i] >> shift) % kDigits]++] = from[i];
}

}  // namespace

bool order_labels(Scratch& scratch, size_t rows, const uint32_t* label_offsets,
                  const uint32_t* labels, size_t classes, uint32_t* label_class,
                  uint32_t* label_row) {
  const size_t count = label_offsets[rows];
  uint64_t* keys =
      static_cast<uint64_t*>(scratch.bytes(kNameSortKeys, 0, 2 * count * sizeof(uint64_t)));
  if (keys == nullptr) return false;
  uint64_t* other = keys + count;
  // The rows are in order already, so that only the classes' digits need sorting.
  for (size_t row = 0; row < rows; row++) {
    for (uint32_t i = label_offsets[row]; i < label_offsets[row + 1]; i++) {
      keys[i] = uint64_t{labels[i]} << 32 | row;
    }
  }
  for (unsigned bit = 0; bit < 32 && (classes - 1) >> bit != 0 && count > 1; bit += kDigitBits) {
    sort_by_digit(keys, other, count, 32 + bit);
    uint64_t* swap = keys;
    keys = other;
    other = swap;
  }
  for (size_t i = 0; i < count; i++) {
    label_class[i] = static_cast<uint32_t>(keys[i] >> 32);
    label_row[i] = static_cast<uint32_t>(keys[i]);
  }
  return true;
}

}  // namespace heterosgd
