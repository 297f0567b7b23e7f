#include "context.h"

namespace stand_in {

CUresult Context::run(Stream& stream, uint64_t end) {
  const CUresult result = failure == CUDA_SUCCESS ? stream.run(end) : failure;
  // A copy or a kernel that fails when it is done fails the context.
  if (result != CUDA_SUCCESS) failure = result;
  return result;
}

CUresult Context::run_all() {
  for (const auto& [handle, stream] : streams) {
    const CUresult result = run(*stream, stream->end());
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

bool Context::is_pinned(const void* begin, size_t bytes) const {
  const auto* const from = static_cast<const char*>(begin);
  for (const auto& [memory, size] : pinned_bytes) {
    if (from >= memory && from + bytes <= memory + size) return true;
  }
  return false;
}

}  // namespace stand_in
