// Work buffers of one kernels object. They grow to the largest size asked for and are kept, so that
// no step allocates: a fresh page costs more than the arithmetic done on it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heterosgd {

// Smaller than any system's, so that its multiples are touched on every page.
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

class Scratch {
 public:
  // Buffers are told apart by name (see names.h) and thread (below `threads`). With `counts_only`
  // their pages stay untouched, so that they cost nothing but addresses: that is how sizes are
  // planned.
  explicit Scratch(size_t threads, bool counts_only = false);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // At least `bytes` bytes, aligned to cache lines (to huge pages where large), zeroed when taken
  // first. Growing loses what was in them (and zeroes again). Null when memory can't be had: the
  // operation then returns at once, and the boundary reports it by `take_failure`. Any thread may
  // call this for its own buffers, but take them before a run with barriers, where nobody may leave
  // early.
  void* bytes(unsigned name, size_t thread, size_t bytes);
  float* floats(unsigned name, size_t thread, size_t count);
  uint32_t* words(unsigned name, size_t thread, size_t count);

  // Whether a buffer could not be had since this was last asked.
  bool take_failure();
  // What all buffers hold.
  size_t total_bytes() const;

 private:
  struct State;
  void* elements(unsigned name, size_t thread, size_t count, size_t size);
  State* state_;  // null when even this could not be had: everything fails then
};

// Asks for huge pages where the system has them. Harmless elsewhere.
void advise_huge_pages(void* address, size_t bytes);

}  // namespace heterosgd
