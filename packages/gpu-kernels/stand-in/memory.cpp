#include "memory.h"

#include <sys/mman.h>

#include <cstring>

namespace stand_in {
namespace {

constexpr size_t kPage = 4096;
/** What vector loads of kernels may rely on. */
constexpr size_t kAlignment = 16;
/** The device's memory is given out in pieces of so many bytes. */
constexpr size_t kPiece = 512;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Memory::~Memory() {
  for (const auto& [address, allocation] : allocations_) {
    munmap(allocation.mapping, allocation.mapping_bytes);
  }
}

CUresult Memory::allocate(size_t bytes, CUdeviceptr* address) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > total_ || round_up(bytes, kPiece) > total_ - used_) return CUDA_ERROR_OUT_OF_MEMORY;
  const size_t inner = round_up(bytes, kPage);
  const size_t outer = inner + 2 * kPage;
  void* const mapping =
      mmap(nullptr, outer, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  char* const first = static_cast<char*>(mapping) + kPage;
  mprotect(first, inner, PROT_READ | PROT_WRITE);
  std::memset(first, 0xff, inner);
  char* const data = first + inner - round_up(bytes, kAlignment);
  *address = reinterpret_cast<CUdeviceptr>(data);
  allocations_[*address] = {bytes, static_cast<char*>(mapping), outer};
  used_ += round_up(bytes, kPiece);
  return CUDA_SUCCESS;
}

CUresult Memory::release(CUdeviceptr address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return CUDA_ERROR_INVALID_VALUE;
  munmap(found->second.mapping, found->second.mapping_bytes);
  used_ -= round_up(found->second.bytes, kPiece);
  allocations_.erase(found);
  return CUDA_SUCCESS;
}

bool Memory::has(CUdeviceptr address, size_t bytes) const {
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return false;
  --found;
  const uint64_t offset = address - found->first;
  return offset <= found->second.bytes && bytes <= found->second.bytes - offset;
}

bool Memory::is_intact() const {
  for (const auto& [address, allocation] : allocations_) {
    const auto* const end = reinterpret_cast<unsigned char*>(address) + allocation.bytes;
    const size_t rest = round_up(allocation.bytes, kAlignment) - allocation.bytes;
    for (size_t i = 0; i < rest; i++) {
      if (end[i] != 0xff) return false;
    }
  }
  return true;
}

}  // namespace stand_in
