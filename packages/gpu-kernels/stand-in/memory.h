/**
 * Device memory: each allocation has pages of its own, ends at one that can't be touched, and holds NaN
 * (as numbers: 0xffffffff) until something is written.
 */
#pragma once

#include <cstdint>
#include <map>

#include "driver-types.h"

namespace stand_in {

class Memory {
 public:
  explicit Memory(uint64_t total) : total_(total) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  CUresult allocate(size_t bytes, CUdeviceptr* address);
  CUresult release(CUdeviceptr address);
  /** Whether these bytes lie within one allocation. */
  bool has(CUdeviceptr address, size_t bytes) const;
  /** Whether nothing was written between an allocation's end and the page that can't be touched. */
  bool is_intact() const;
  uint64_t total() const { return total_; }
  uint64_t used() const { return used_; }

 private:
  struct Allocation {
    size_t bytes;
    char* mapping;
    size_t mapping_bytes;
  };
  uint64_t total_;
  uint64_t used_ = 0;
  std::map<CUdeviceptr, Allocation> allocations_;
};

}  // namespace stand_in
