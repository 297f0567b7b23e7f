#include "calls.h"

namespace stand_in {

thread_local CUcontext current_context = nullptr;

Driver& driver() {
  static Driver only;
  return only;
}

CUresult injected_failure(const char* name, Context* context) {
  if (driver().lost != CUDA_SUCCESS) return driver().lost;
  Settings& set = settings();
  if (set.fail_after == 0 || (set.fail_name != "*" && set.fail_name != name)) return CUDA_SUCCESS;
  if (--set.fail_after > 0) return CUDA_SUCCESS;
  const auto code = static_cast<CUresult>(set.fail_code);
  if (code == CUDA_ERROR_UNKNOWN) driver().lost = code;
  if (code >= CUDA_ERROR_ILLEGAL_ADDRESS && context != nullptr) context->failure = code;
  return code;
}

}  // namespace stand_in

/** Changes a setting of settings.h. Returns 0 if there is none of that name, or it has no such value. */
STAND_IN_EXPORT int standInSet(const char* name, const char* value) {
  using namespace stand_in;
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  if (!set(name, value)) return 0;
  if (std::string(name) == "FAIL") driver().lost = CUDA_SUCCESS;
  return 1;
}

/**
 * How many contexts, and bytes of device memory, are in use; uploads that were done beside kernels; handles of
 * cuBLAS that are in use.
 */
STAND_IN_EXPORT unsigned long long standInUse(int what) {
  using namespace stand_in;
  const std::lock_guard<std::recursive_mutex> hold(driver().lock);
  if (what == 0) return driver().contexts.size();
  if (what == 2) return driver().uploads_beside_kernels;
  if (what == 3) return library_handles();
  uint64_t bytes = 0;
  for (const auto& [handle, context] : driver().contexts) bytes += context.memory.used();
  return bytes;
}
