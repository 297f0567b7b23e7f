/** What every exported function does before its own work: locks, heeds FAIL, finds the context. */
#pragma once

#include <map>
#include <mutex>

#include "context.h"
#include "settings.h"

#define STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))

namespace stand_in {

struct Driver {
  std::recursive_mutex lock;
  bool is_initialised = false;
  /** What every call of every context returns from the loss of the device on. */
  CUresult lost = CUDA_SUCCESS;
  /** How many copies from memory that stays in its place were done while a kernel waited. */
  uint64_t uploads_beside_kernels = 0;
  std::map<CUcontext, Context> contexts;
  std::map<CUdevice, CUcontext> primary;
};

Driver& driver();

/** The calling thread's context. */
extern thread_local CUcontext current_context;

/** Handles of cuBLAS that were not given back. */
size_t library_handles();

/** What FAIL has this call return, or CUDA_SUCCESS. */
CUresult injected_failure(const char* name, Context* context);

template <typename F>
CUresult call(const char* name, F body) {
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  if (!driver().is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult failure = injected_failure(name, nullptr);
  return failure == CUDA_SUCCESS ? body() : failure;
}

template <typename F>
CUresult call_in_context(const char* name, F body) {
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  if (!driver().is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto found = driver().contexts.find(current_context);
  if (found == driver().contexts.end()) return CUDA_ERROR_INVALID_CONTEXT;
  Context& context = found->second;
  if (context.failure != CUDA_SUCCESS) return context.failure;
  const CUresult failure = injected_failure(name, &context);
  return failure == CUDA_SUCCESS ? body(context) : failure;
}

}  // namespace stand_in
