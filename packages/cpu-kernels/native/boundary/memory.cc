// What JavaScript needs to know of memory and of the processor.
#include <cstdlib>

#include "../instruction_sets.h"
#include "../names.h"
#include "kernels.h"
#include "operations.h"

namespace heterosgd {

namespace {

// Rows of a batch that sizes can be planned for; far above what is of use.
constexpr double kMostPlanned = 1 << 20;
constexpr size_t kMostWidths = kMostLayers + 1;

napi_value to_number(napi_env env, double number) {
  napi_value result = nullptr;
  return napi_create_double(env, number, &result) == napi_ok ? result : nullptr;
}

}  // namespace

napi_value call_work_bytes(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "workBytes");
  NativeKernels* kernels = kernels_argument(arguments);
  if (kernels == nullptr) return nullptr;
  return to_number(env, static_cast<double>(kernels->scratch->total_bytes()));
}

napi_value call_planned_bytes(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "plannedBytes");
  const Settings settings = settings_arguments(arguments);
  Plan plan{};
  plan.rows = arguments.whole("maxRows", 1, kMostPlanned);
  const size_t non_zeros = arguments.whole("maxNonZeros", 0, kMostPlanned * kMostPlanned);
  const size_t labels = arguments.whole("maxLabels", 0, kMostPlanned * kMostPlanned);
  plan.with_rule = arguments.boolean("optimizer");
  if (!arguments.ok()) return nullptr;
  size_t widths[kMostWidths];
  plan.widths = widths;
  plan.width_count = arguments.left();
  if (plan.width_count < 3 || plan.width_count > kMostWidths) {
    arguments.fail(kArgumentCode, "there are %zu widths, expected 3 to %zu", plan.width_count,
                   kMostWidths);
    return nullptr;
  }
  for (size_t i = 0; i < plan.width_count; i++) widths[i] = arguments.whole("width", 1, kMostUnits);
  if (!arguments.ok()) return nullptr;
  plan.options = settings.options;

  Scratch scratch(settings.threads, true);
  BatchSlot::plan(scratch, kSlot0Buffers, plan.rows, non_zeros, labels, plan.with_rule, widths[0]);
  BatchSlot::plan(scratch, kSlot1Buffers, plan.rows, non_zeros, labels, plan.with_rule, widths[0]);
  uint32_t* no_labels = static_cast<uint32_t*>(std::calloc(plan.rows + 1, sizeof(uint32_t)));
  plan.no_labels = no_labels;
  if (no_labels != nullptr) settings.operations->plan(settings.threads, scratch, plan);
  std::free(no_labels);
  if (no_labels == nullptr || scratch.take_failure()) {
    arguments.fail(kMemoryCode, "these sizes are beyond any memory: use smaller batches or fewer hidden units");
    return nullptr;
  }
  return to_number(env, static_cast<double>(scratch.total_bytes()));
}

napi_value call_place_of(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "placeOf");
  const FloatArray array = arguments.floats("array", 0);
  if (!arguments.ok()) return nullptr;
  return to_number(env, static_cast<double>(reinterpret_cast<uintptr_t>(array.data) % kHugePage));
}

napi_value call_settle(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "settle");
  const FloatArray array = arguments.floats("array", 0);
  if (!arguments.ok() || array.length == 0) return nullptr;
  const size_t bytes = array.length * sizeof(float);
  if (bytes >= kHugePage) advise_huge_pages(array.data, bytes);
  // A write that changes nothing, whatever others do to the array meanwhile.
  for (size_t i = 0; i < array.length; i += kPage / sizeof(float)) {
    __atomic_fetch_or(reinterpret_cast<uint32_t*>(array.data + i), 0, __ATOMIC_RELAXED);
  }
  return nullptr;
}

napi_value call_supported(napi_env env, napi_callback_info) {
  unsigned bits = 0;
  for (unsigned set = 0; set < kInstructionSets; set++) {
    if (supported(static_cast<InstructionSet>(set))) bits |= 1u << set;
  }
  if (supports_bf16()) bits |= 1u << kInstructionSets;
  return to_number(env, bits);
}

napi_value call_interface_version(napi_env env, napi_callback_info) {
  return to_number(env, kInterface);
}

}  // namespace heterosgd
