// The addon's exports, by raw Node-API, so that one binary serves every Node and any number of
// workers. src/native/ is the only caller; the operations' arguments are flat (see boundary/).
#include "boundary/kernels.h"
#include "boundary/operations.h"

namespace {

using heterosgd::open_environment;

struct Export {
  const char* name;
  napi_callback function;
};

constexpr Export kExports[] = {
    {"create", heterosgd::create_kernels},
    {"dispose", heterosgd::dispose_kernels},
    {"upload", heterosgd::call_upload},
    {"gather", heterosgd::call_gather},
    {"dense", heterosgd::call_dense},
    {"output", heterosgd::call_output},
    {"denseBackward", heterosgd::call_dense_backward},
    {"scatter", heterosgd::call_scatter},
    {"topK", heterosgd::call_top_k},
    {"blend", heterosgd::call_blend},
    {"trainMicroBatches", heterosgd::call_train_micro_batches},
    {"workBytes", heterosgd::call_work_bytes},
    {"plannedBytes", heterosgd::call_planned_bytes},
    {"placeOf", heterosgd::call_place_of},
    {"settle", heterosgd::call_settle},
    {"supported", heterosgd::call_supported},
    {"interfaceVersion", heterosgd::call_interface_version},
};

}  // namespace

NAPI_MODULE_INIT() {
  if (!open_environment(env)) return nullptr;
  for (const Export& one : kExports) {
    napi_value function;
    if (napi_create_function(env, one.name, NAPI_AUTO_LENGTH, one.function, nullptr, &function) !=
            napi_ok ||
        napi_set_named_property(env, exports, one.name, function) != napi_ok) {
      return nullptr;
    }
  }
  return exports;
}
