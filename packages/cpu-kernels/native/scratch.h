// Work buffers of one kernels object. They grow to the largest size asked for and are kept, so that
// no step allocates: a fresh page costs more than the arithmetic done on it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heterosgd {

// How many names there are. Those below 32 are the output step's and top-k's; see names.h for the others.
constexpr unsigned kScratchNames = 64;

class Scratch {
 public:
  // Buffers are told apart by name and thread (below `threads`). With `counts_only` their pages stay
  // untouched, so that they cost nothing but addresses: that is how sizes are planned.
  explicit Scratch(size_t threads, bool counts_only = false);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // At least `bytes` bytes, aligned to cache lines (to huge pages where large), zeroed when taken
  // first. Growing loses what was in them (and zeroes again). Null, and `failed`, when memory can't
  // be had: the operation then returns at once, and the boundary reports it. Any thread may call
  // this for its own buffers, but take them before a run with barriers, where nobody may leave early.
  void* bytes(unsigned name, size_t thread, size_t bytes);
  float* floats(unsigned name, size_t thread, size_t count);
  uint32_t* words(unsigned name, size_t thread, size_t count);

  // Whether a buffer could not be had since this was last asked.
  bool take_failure();
  // What all buffers hold.
  size_t total_bytes() const;
  // Gives everything back.
  void clear();

 private:
  struct State;
  void* elements(unsigned name, size_t thread, size_t count, size_t size);
  State* state_;  // null when even this could not be had: everything fails then
};

// What a buffer of so many bytes takes: rounded up by at most an eighth (or to a whole page), so that
// slightly larger batches rarely make it grow. `nativeKernelsBytes` counts by the same rule.
size_t scratch_rounded(size_t bytes);

// Memory aligned to 64 bytes, or to 2 MiB and advised to lie on huge pages where it is as large as
// that; zeroed, and every page touched if `touched`. Null when it can't be had.
void* take_pages(size_t bytes, bool touched = true);
void give_pages(void* address, size_t bytes);
// Asks for huge pages where the system has them. Harmless elsewhere.
void advise_huge_pages(void* address, size_t bytes);

}  // namespace heterosgd
