/** cuInit, and functions on devices, contexts and errors. */
#include <cstring>
#include <string>

#include "calls.h"

using namespace stand_in;

STAND_IN_EXPORT CUresult cuInit(unsigned int) {
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  if (driver().lost != CUDA_SUCCESS) return driver().lost;
  if (settings().devices == 0) return CUDA_ERROR_NO_DEVICE;
  driver().is_initialised = true;
  return injected_failure("cuInit", nullptr);
}

STAND_IN_EXPORT CUresult cuDriverGetVersion(int* version) {
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  *version = settings().driver_version;
  return CUDA_SUCCESS;
}

STAND_IN_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  switch (error) {
#define NAME(code) \
  case code:       \
    *name = #code; \
    return CUDA_SUCCESS;
    NAME(CUDA_SUCCESS)
    NAME(CUDA_ERROR_INVALID_VALUE)
    NAME(CUDA_ERROR_OUT_OF_MEMORY)
    NAME(CUDA_ERROR_NOT_INITIALIZED)
    NAME(CUDA_ERROR_NO_DEVICE)
    NAME(CUDA_ERROR_INVALID_DEVICE)
    NAME(CUDA_ERROR_INVALID_IMAGE)
    NAME(CUDA_ERROR_INVALID_CONTEXT)
    NAME(CUDA_ERROR_NO_BINARY_FOR_GPU)
    NAME(CUDA_ERROR_INVALID_PTX)
    NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    NAME(CUDA_ERROR_INVALID_HANDLE)
    NAME(CUDA_ERROR_NOT_FOUND)
    NAME(CUDA_ERROR_NOT_READY)
    NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
    NAME(CUDA_ERROR_LAUNCH_TIMEOUT)
    NAME(CUDA_ERROR_LAUNCH_FAILED)
    NAME(CUDA_ERROR_NOT_SUPPORTED)
    NAME(CUDA_ERROR_UNKNOWN)
#undef NAME
    default:
      *name = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}

static bool is_device(CUdevice device) { return device >= 0 && device < settings().devices; }

STAND_IN_EXPORT CUresult cuDeviceGetCount(int* count) {
  return call("cuDeviceGetCount", [&] {
    *count = settings().devices;
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call("cuDeviceGet", [&] {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return call("cuDeviceGetName", [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
    const std::string own = "Stand-in " + std::to_string(device);
    std::strncpy(name, own.c_str(), static_cast<size_t>(length) - 1);
    name[length - 1] = '\0';
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return call("cuDeviceTotalMem_v2", [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = settings().memory;
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                              CUdevice device) {
  return call("cuDeviceGetAttribute", [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = 48 * 1024;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 1;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = settings().capability / 10;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = settings().capability % 10;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

STAND_IN_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call("cuDevicePrimaryCtxRetain", [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    CUcontext& primary = driver().primary[device];
    if (primary == nullptr) {
      primary = new_handle<CUcontext>();
      driver().contexts.try_emplace(primary, settings().memory);
    }
    driver().contexts.at(primary).retained++;
    *context = primary;
    return CUDA_SUCCESS;
  });
}

STAND_IN_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  // Also after a failure: that is what a new context can be had by.
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  const auto found = driver().primary.find(device);
  if (found == driver().primary.end()) return CUDA_ERROR_INVALID_CONTEXT;
  if (--driver().contexts.at(found->second).retained > 0) return CUDA_SUCCESS;
  driver().contexts.erase(found->second);
  driver().primary.erase(found);
  return CUDA_SUCCESS;
}

STAND_IN_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return call("cuCtxSetCurrent", [&] {
    if (context != nullptr && driver().contexts.count(context) == 0) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    current_context = context;
    return CUDA_SUCCESS;
  });
}
