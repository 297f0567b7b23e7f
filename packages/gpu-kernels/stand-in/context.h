/** The primary context of a device: everything that was made in it, and whether it can still be used. */
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "driver-types.h"
#include "memory.h"
#include "ptx.h"
#include "registry.h"
#include "streams.h"

namespace stand_in {

struct Context {
  explicit Context(uint64_t memory_bytes) : memory(memory_bytes) {}

  int retained = 0;
  /** What every call returns once a kernel has failed. */
  CUresult failure = CUDA_SUCCESS;
  Memory memory;
  std::map<CUstream, std::shared_ptr<Stream>> streams;
  std::map<CUevent, Event> events;
  std::map<CUmodule, Ptx> modules;
  std::map<CUfunction, const Kernel*> functions;
  /** Host memory that copies read when they are done, not when they are asked for: begin, bytes. */
  std::map<char*, std::unique_ptr<char[]>> pinned;
  std::map<char*, size_t> pinned_bytes;

  /** Does what a stream, or every one, waits with. */
  CUresult run(Stream& stream, uint64_t end);
  CUresult run_all();
  bool is_pinned(const void* begin, size_t bytes) const;
};

/** No handle is given twice, so that one that was given back is known. */
template <typename T>
T new_handle() {
  static uintptr_t last = 0x1000;
  last += 16;
  return reinterpret_cast<T>(last);
}

}  // namespace stand_in
