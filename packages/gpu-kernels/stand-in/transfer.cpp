/** Functions on memory of the device and of the host, and copies between them. */
#include <cstring>
#include <memory>
#include <vector>

#include "calls.h"
#include "enqueue.h"

using namespace stand_in;

static char* bytes_at(CUdeviceptr address) { return reinterpret_cast<char*>(address); }

STAND_IN_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return call_in_context("cuMemAlloc_v2",
                         [&](Context& context) { return context.memory.allocate(bytes, address); });
}

STAND_IN_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return call_in_context("cuMemFree_v2", [&](Context& context) {
    const CUresult result = context.run_all();
    return result == CUDA_SUCCESS ? context.memory.release(address) : result;
  });
}

STAND_IN_EXPORT CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call_in_context("cuMemGetInfo_v2", [&](Context& context) {
    *total = context.memory.total();
    *free = context.memory.total() - context.memory.used();
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned int) {
  return call_in_context("cuMemHostAlloc", [&](Context& context) {
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    auto own = std::make_unique<char[]>(bytes);
    char* const begin = own.get();
    *memory = begin;
    context.pinned_bytes[begin] = bytes;
    context.pinned[begin] = std::move(own);
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuMemFreeHost(void* memory) {
  return call_in_context("cuMemFreeHost", [&](Context& context) {
    auto* const begin = static_cast<char*>(memory);
    if (context.pinned.count(begin) == 0) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = context.run_all();
    if (result != CUDA_SUCCESS) return result;
    context.pinned_bytes.erase(begin);
    context.pinned.erase(begin);
    return CUDA_SUCCESS;
  });
}

/** A copy from the host is done: counts it if a kernel is still to be run. */
static void count_upload(const Context& context) {
  for (const auto& [handle, stream] : context.streams) {
    if (!stream->has_kernel()) continue;
    driver().uploads_beside_kernels++;
    return;
  }
}

STAND_IN_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes,
                                              CUstream stream) {
  return call_in_context("cuMemcpyHtoDAsync_v2", [&](Context& context) {
    if (!context.memory.has(target, bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (context.is_pinned(source, bytes)) {
      return enqueue(context, stream, Kind::kFromHost, [&context, target, source, bytes] {
        std::memcpy(bytes_at(target), source, bytes);
        count_upload(context);
        return CUDA_SUCCESS;
      });
    }
    const auto* const from = static_cast<const char*>(source);
    const auto copy = std::make_shared<const std::vector<char>>(from, from + bytes);
    return enqueue(context, stream, Kind::kFromHost, [target, copy] {
      std::memcpy(bytes_at(target), copy->data(), copy->size());
      return CUDA_SUCCESS;
    });
  });
}

STAND_IN_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes,
                                              CUstream stream) {
  return call_in_context("cuMemcpyDtoHAsync_v2", [&](Context& context) {
    if (!context.memory.has(source, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(context, stream, Kind::kOther, [target, source, bytes] {
      std::memcpy(target, bytes_at(source), bytes);
      return CUDA_SUCCESS;
    });
  });
}

STAND_IN_EXPORT CUresult cuMemsetD32Async(CUdeviceptr target, unsigned int value, size_t count,
                                          CUstream stream) {
  return call_in_context("cuMemsetD32Async", [&](Context& context) {
    if (target % 4 != 0 || count > SIZE_MAX / 4 || !context.memory.has(target, 4 * count)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return enqueue(context, stream, Kind::kOther, [target, value, count] {
      auto* const words = reinterpret_cast<unsigned*>(target);
      for (size_t i = 0; i < count; i++) words[i] = value;
      return CUDA_SUCCESS;
    });
  });
}
