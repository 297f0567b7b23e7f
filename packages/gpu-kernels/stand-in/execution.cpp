/** Functions on streams, events, modules and launches. */
#include <cstring>
#include <string>

#include "calls.h"
#include "enqueue.h"
#include "launch.h"

using namespace stand_in;

CUresult stand_in::enqueue(Context& context, CUstream stream, Kind kind,
                           std::function<CUresult()> operation) {
  const auto found = context.streams.find(stream);
  // Not the default stream either: it waits for all others, which would hide a missing order.
  if (found == context.streams.end()) return CUDA_ERROR_INVALID_HANDLE;
  Stream& own = *found->second;
  own.add(kind, std::move(operation));
  const Streams when = settings().streams;
  const bool at_once =
      when == Streams::kEager || (when == Streams::kCopiesFirst && kind == Kind::kFromHost);
  return at_once ? context.run(own, own.end()) : CUDA_SUCCESS;
}

STAND_IN_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned int) {
  return call_in_context("cuStreamCreate", [&](Context& context) {
    *stream = new_handle<CUstream>();
    context.streams[*stream] = std::make_shared<Stream>();
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  return call_in_context("cuStreamDestroy_v2", [&](Context& context) {
    const auto found = context.streams.find(stream);
    if (found == context.streams.end()) return CUDA_ERROR_INVALID_HANDLE;
    const CUresult result = context.run(*found->second, found->second->end());
    context.streams.erase(found);
    return result;
  });
}

STAND_IN_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  return call_in_context("cuStreamSynchronize", [&](Context& context) {
    const auto found = context.streams.find(stream);
    if (found == context.streams.end()) return CUDA_ERROR_INVALID_HANDLE;
    return context.run(*found->second, found->second->end());
  });
}

STAND_IN_EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  return call_in_context("cuStreamWaitEvent", [&](Context& context) {
    const auto found = context.events.find(event);
    if (found == context.events.end()) return CUDA_ERROR_INVALID_HANDLE;
    const Event as_recorded = found->second;
    if (as_recorded.stream == nullptr) return CUDA_SUCCESS;
    return enqueue(context, stream, Kind::kOther,
                   [as_recorded] { return as_recorded.stream->run(as_recorded.end); });
  });
}

STAND_IN_EXPORT CUresult cuEventCreate(CUevent* event, unsigned int) {
  return call_in_context("cuEventCreate", [&](Context& context) {
    *event = new_handle<CUevent>();
    context.events[*event] = {};
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  return call_in_context("cuEventDestroy_v2", [&](Context& context) {
    return context.events.erase(event) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

STAND_IN_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call_in_context("cuEventRecord", [&](Context& context) {
    const auto found = context.events.find(event);
    const auto of = context.streams.find(stream);
    if (found == context.events.end() || of == context.streams.end()) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    found->second = {of->second, of->second->end(), false};
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuEventSynchronize(CUevent event) {
  return call_in_context("cuEventSynchronize", [&](Context& context) {
    const auto found = context.events.find(event);
    if (found == context.events.end()) return CUDA_ERROR_INVALID_HANDLE;
    if (found->second.stream == nullptr) return CUDA_SUCCESS;
    return context.run(*found->second.stream, found->second.end);
  });
}

STAND_IN_EXPORT CUresult cuEventQuery(CUevent event) {
  return call_in_context("cuEventQuery", [&](Context& context) {
    const auto found = context.events.find(event);
    if (found == context.events.end()) return CUDA_ERROR_INVALID_HANDLE;
    Event& own = found->second;
    if (own.stream == nullptr) return CUDA_SUCCESS;
    // Nothing is done beside the caller's thread: who asks once more has waited long enough.
    if (!own.was_asked && !own.stream->is_done(own.end)) {
      own.was_asked = true;
      return CUDA_ERROR_NOT_READY;
    }
    return context.run(*own.stream, own.end);
  });
}

/** The newest PTX that a driver takes, as 10 · major + minor; the driver's version as CUDA says it. */
static int newest_ptx(int driver_version) {
  const int major = driver_version / 1000, minor = driver_version % 1000 / 10;
  if (major >= 11) return 10 * (major - 4) + minor;
  return major == 10 ? 63 + minor : 60 + minor;
}

STAND_IN_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return call_in_context("cuModuleLoadData", [&](Context& context) {
    Ptx ptx;
    if (!read_ptx(static_cast<const char*>(image), &ptx)) return CUDA_ERROR_INVALID_PTX;
    if (ptx.version > newest_ptx(settings().driver_version)) {
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (ptx.target > settings().capability) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    *module = new_handle<CUmodule>();
    context.modules[*module] = ptx;
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuModuleUnload(CUmodule module) {
  return call_in_context("cuModuleUnload", [&](Context& context) {
    return context.modules.erase(module) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

STAND_IN_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                             const char* name) {
  return call_in_context("cuModuleGetFunction", [&](Context& context) {
    const auto of = context.modules.find(module);
    if (of == context.modules.end()) return CUDA_ERROR_INVALID_HANDLE;
    const auto in_ptx = of->second.kernels.find(name);
    if (in_ptx == of->second.kernels.end()) return CUDA_ERROR_NOT_FOUND;
    for (const Kernel& kernel : kernels()) {
      if (kernel.name != name) continue;
      // The PTX is of other sources than these.
      if (kernel.parameters != in_ptx->second) return CUDA_ERROR_INVALID_IMAGE;
      *function = new_handle<CUfunction>();
      context.functions[*function] = &kernel;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_IMAGE;
  });
}

STAND_IN_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x,
                                        unsigned int grid_y, unsigned int grid_z,
                                        unsigned int block_x, unsigned int block_y,
                                        unsigned int block_z, unsigned int shared_bytes,
                                        CUstream stream, void** parameters, void** extra) {
  return call_in_context("cuLaunchKernel", [&](Context& context) {
    const auto found = context.functions.find(function);
    if (found == context.functions.end()) return CUDA_ERROR_INVALID_HANDLE;
    const bool has_size = grid_x >= 1 && grid_x <= 0x7fffffff && grid_y >= 1 && grid_y <= 65535 &&
                          block_x >= 1 && block_x <= 1024 && block_y >= 1 && block_y <= 1024 &&
                          block_x * block_y <= 1024;
    if (!has_size || parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (grid_z != 1 || block_z != 1 || shared_bytes != 0 || extra != nullptr) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    const Index grid = {grid_x, grid_y, 1}, block = {block_x, block_y, 1};
    auto work_item = found->second->bind(parameters);
    Memory* const memory = &context.memory;
    return enqueue(context, stream, Kind::kKernel, [work_item, grid, block, memory] {
      const CUresult result = run_grid(work_item, grid, block);
      if (result != CUDA_SUCCESS) return result;
      return memory->is_intact() ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
    });
  });
}
