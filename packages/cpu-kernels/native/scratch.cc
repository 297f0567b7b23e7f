#include "scratch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "names.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace heterosgd {

namespace {

constexpr size_t kLine = 64;
// Far above anything that fits into memory, and far from overflow.
constexpr size_t kLimit = size_t{1} << 46;

struct Buffer {
  void* address = nullptr;
  size_t bytes = 0;
};

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// What a buffer of so many bytes takes: rounded up by at most an eighth, or to a whole page, so
// that slightly larger batches rarely make it grow.
size_t with_room(size_t bytes) {
  size_t granule = kPage;
  while (granule * 16 <= bytes) granule *= 2;
  const size_t rounded = round_up(bytes == 0 ? 1 : bytes, granule);
  return rounded < kHugePage ? rounded : round_up(rounded, kHugePage);
}

// Memory aligned to 64 bytes, or to 2 MiB and advised to lie on huge pages where it is as large as
// that (and then a multiple of it); zeroed, and every page touched if `touched`. Null when it can't
// be had.
void* take_pages(size_t bytes, bool touched) {
#if defined(__linux__)
  if (bytes >= kHugePage) {
    // A mapping of its own, so that giving it back gives it to the system.
    const size_t mapped = bytes + kHugePage;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (touched ? 0 : MAP_NORESERVE);
    void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    const uintptr_t from = reinterpret_cast<uintptr_t>(raw);
    const uintptr_t start = round_up(from, kHugePage);
    const uintptr_t end = start + bytes;
    if (start > from) munmap(raw, start - from);
    if (from + mapped > end) munmap(reinterpret_cast<void*>(end), from + mapped - end);
    void* address = reinterpret_cast<void*>(start);
    if (!touched) return address;
    advise_huge_pages(address, bytes);
    std::memset(address, 0, bytes);
    return address;
  }
#endif
  void* address = nullptr;
  if (posix_memalign(&address, kLine, bytes) != 0) return nullptr;
  if (touched) std::memset(address, 0, bytes);
  return address;
}

void give_pages(void* address, size_t bytes) {
  if (address == nullptr) return;
#if defined(__linux__)
  if (bytes >= kHugePage) {
    munmap(address, bytes);
    return;
  }
#else
  (void)bytes;
#endif
  std::free(address);
}

}  // namespace

void advise_huge_pages(void* address, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // madvise wants whole pages; the advice is for those that lie within.
  const uintptr_t start = round_up(reinterpret_cast<uintptr_t>(address), kPage);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(address) + bytes) / kPage * kPage;
  if (end > start) madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
#else
  (void)address;
  (void)bytes;
#endif
}

struct Scratch::State {
  size_t threads;
  bool counts_only;
  std::atomic<size_t> total{0};
  std::atomic<bool> failed{false};
  Buffer* buffers;  // thread by thread, so that threads don't share cache lines
};

Scratch::Scratch(size_t threads, bool counts_only) : state_(new (std::nothrow) State) {
  if (state_ == nullptr) return;
  state_->threads = threads;
  state_->counts_only = counts_only;
  state_->buffers = new (std::nothrow) Buffer[threads * kScratchNames];
  if (state_->buffers == nullptr) {
    delete state_;
    state_ = nullptr;
  }
}

Scratch::~Scratch() {
  if (state_ == nullptr) return;
  for (size_t i = 0; i < state_->threads * kScratchNames; i++) {
    give_pages(state_->buffers[i].address, state_->buffers[i].bytes);
  }
  delete[] state_->buffers;
  delete state_;
}

void* Scratch::bytes(unsigned name, size_t thread, size_t bytes) {
  if (state_ == nullptr) return nullptr;
  if (name >= kScratchNames || thread >= state_->threads) {
    state_->failed.store(true);
    return nullptr;
  }
  Buffer& buffer = state_->buffers[thread * kScratchNames + name];
  if (buffer.address != nullptr && buffer.bytes >= bytes) return buffer.address;
  // The old one goes first: both at once could be more than there is.
  give_pages(buffer.address, buffer.bytes);
  state_->total.fetch_sub(buffer.bytes);
  buffer = Buffer{};
  const size_t rounded = bytes > kLimit ? 0 : with_room(bytes);
  if (rounded > 0) buffer.address = take_pages(rounded, !state_->counts_only);
  if (buffer.address == nullptr) {
    state_->failed.store(true);
    return nullptr;
  }
  buffer.bytes = rounded;
  state_->total.fetch_add(rounded);
  return buffer.address;
}

void* Scratch::elements(unsigned name, size_t thread, size_t count, size_t size) {
  return bytes(name, thread, count > kLimit / size ? SIZE_MAX : count * size);
}

float* Scratch::floats(unsigned name, size_t thread, size_t count) {
  return static_cast<float*>(elements(name, thread, count, sizeof(float)));
}

uint32_t* Scratch::words(unsigned name, size_t thread, size_t count) {
  return static_cast<uint32_t*>(elements(name, thread, count, sizeof(uint32_t)));
}

bool Scratch::take_failure() { return state_ == nullptr || state_->failed.exchange(false); }

size_t Scratch::total_bytes() const { return state_ == nullptr ? 0 : state_->total.load(); }

}  // namespace heterosgd
