#include "operations.h"

#include <new>

#include "../names.h"
#include "kernels.h"

namespace heterosgd {

namespace {

constexpr double kMostRows = 4294967294.0;
constexpr size_t kLayerArguments = 4;

// Throws if the operation ran short of memory.
napi_value finish(Arguments& arguments, NativeKernels& kernels) {
  if (kernels.scratch->take_failure()) {
    arguments.fail(kMemoryCode,
                   "no memory for work buffers beyond the %zu MiB held: use smaller batches, fewer "
                   "devices or threads, or fewer hidden units",
                   kernels.scratch->total_bytes() >> 20);
  }
  return nullptr;
}

// The batch of a slot, and null with an error if nothing was uploaded to it.
BatchSlot* batch_argument(Arguments& arguments, NativeKernels& kernels) {
  const size_t slot = arguments.whole("slot", 0, 1);
  if (!arguments.ok()) return nullptr;
  if (!kernels.slots[slot].filled()) {
    arguments.fail(kBatchCode, "slot %zu holds no batch", slot);
    return nullptr;
  }
  return &kernels.slots[slot];
}

bool has_features(Arguments& arguments, const BatchSlot& slot, const Layer& layer) {
  if (!arguments.ok()) return false;
  if (slot.features() <= layer.inputs) return true;
  arguments.fail(kBatchCode, "the batch names feature %zu, the layer has %zu inputs",
                 slot.features() - 1, layer.inputs);
  return false;
}

bool has_classes(Arguments& arguments, const BatchSlot& slot, const Layer& layer) {
  if (!arguments.ok()) return false;
  if (slot.classes() <= layer.outputs) return true;
  arguments.fail(kBatchCode, "the batch names label %zu, the layer has %zu outputs",
                 slot.classes() - 1, layer.outputs);
  return false;
}

}  // namespace

napi_value call_upload(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "upload");
  NativeKernels* kernels = kernels_argument(arguments);
  const size_t slot = arguments.whole("slot", 0, 1);
  HostBatch host{};
  host.rows = arguments.whole("rows", 1, kMostRows);
  const WordArray offsets = arguments.words("offsets", host.rows + 1);
  const WordArray indices = arguments.words("indices", 0);
  const FloatArray values = arguments.floats("values", 0);
  const WordArray label_offsets = arguments.words("labelOffsets", host.rows + 1);
  const WordArray labels = arguments.words("labels", 0);
  if (!arguments.ok()) return nullptr;
  host.offsets = offsets.data;
  host.indices = indices.data;
  host.indices_length = indices.length;
  host.values = values.data;
  host.values_length = values.length;
  host.label_offsets = label_offsets.data;
  host.labels = labels.data;
  host.labels_length = labels.length;
  char message[256];
  const unsigned first_name = slot == 0 ? kSlot0Buffers : kSlot1Buffers;
  if (!kernels->slots[slot].fill(*kernels->scratch, first_name, host, message, sizeof message) &&
      message[0] != '\0') {
    arguments.fail(kBatchCode, "%s", message);
    return nullptr;
  }
  return finish(arguments, *kernels);
}

napi_value call_gather(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "gather");
  NativeKernels* kernels = kernels_argument(arguments);
  if (kernels == nullptr) return nullptr;
  BatchSlot* slot = batch_argument(arguments, *kernels);
  if (slot == nullptr) return nullptr;
  const Layer layer = arguments.layer();
  const Activation activation = arguments.activation();
  const FloatArray out = arguments.floats("out", times(slot->batch().rows, layer.outputs));
  if (!has_features(arguments, *slot, layer)) return nullptr;
  Device device = kernels->device();
  kernels->operations->gather(device, slot->batch(), layer, activation, out.data);
  return finish(arguments, *kernels);
}

napi_value call_dense(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "dense");
  NativeKernels* kernels = kernels_argument(arguments);
  const size_t rows = arguments.whole("rows", 1, kMostRows);
  const napi_value input_value = arguments.value();
  const Layer layer = arguments.layer();
  const FloatArray input = arguments.floats_of(input_value, "input", times(rows, layer.inputs));
  const Activation activation = arguments.activation();
  const FloatArray out = arguments.floats("out", times(rows, layer.outputs));
  if (!arguments.ok()) return nullptr;
  Device device = kernels->device();
  kernels->operations->dense(device, rows, input.data, layer, activation, out.data);
  return finish(arguments, *kernels);
}

napi_value call_output(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "output");
  NativeKernels* kernels = kernels_argument(arguments);
  if (kernels == nullptr) return nullptr;
  BatchSlot* slot = batch_argument(arguments, *kernels);
  if (slot == nullptr) return nullptr;
  const size_t rows = slot->batch().rows;
  const napi_value hidden_value = arguments.value();
  const Layer layer = arguments.layer();
  const FloatArray hidden = arguments.floats_of(hidden_value, "hidden", times(rows, layer.inputs));
  const Loss loss = arguments.loss();
  const Gradient gradient = arguments.gradient(layer);
  const FloatArray d_hidden = arguments.optional_floats("dHidden", times(rows, layer.inputs));
  const FloatArray losses = arguments.floats("losses", rows);
  if (!has_classes(arguments, *slot, layer)) return nullptr;
  Device device = kernels->device();
  kernels->operations->output(device, slot->batch(), hidden.data, layer, loss, gradient,
                              kernels->options, d_hidden.data, losses.data);
  return finish(arguments, *kernels);
}

napi_value call_dense_backward(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "denseBackward");
  NativeKernels* kernels = kernels_argument(arguments);
  const size_t rows = arguments.whole("rows", 1, kMostRows);
  const napi_value input_value = arguments.value();
  const Layer layer = arguments.layer();
  const FloatArray input = arguments.floats_of(input_value, "input", times(rows, layer.inputs));
  const Activation activation = arguments.activation();
  const FloatArray outputs = arguments.floats("outputs", times(rows, layer.outputs));
  const FloatArray d_outputs = arguments.floats("dOutputs", times(rows, layer.outputs));
  const Gradient gradient = arguments.gradient(layer);
  const FloatArray d_input = arguments.floats("dInput", times(rows, layer.inputs));
  if (!arguments.ok()) return nullptr;
  Device device = kernels->device();
  kernels->operations->dense_backward(device, rows, input.data, layer, activation, outputs.data,
                                      d_outputs.data, gradient, d_input.data);
  return finish(arguments, *kernels);
}

napi_value call_scatter(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "scatter");
  NativeKernels* kernels = kernels_argument(arguments);
  if (kernels == nullptr) return nullptr;
  BatchSlot* slot = batch_argument(arguments, *kernels);
  if (slot == nullptr) return nullptr;
  const Layer layer = arguments.layer();
  const size_t elements = times(slot->batch().rows, layer.outputs);
  const Activation activation = arguments.activation();
  const FloatArray outputs = arguments.floats("outputs", elements);
  const FloatArray d_outputs = arguments.floats("dOutputs", elements);
  const Gradient gradient = arguments.gradient(layer);
  if (!has_features(arguments, *slot, layer)) return nullptr;
  const bool by_feature = gradient.rule == Rule::kAdagrad || gradient.rule == Rule::kAdam;
  if (by_feature && !slot->order_columns(*kernels->scratch, layer.inputs)) {
    return finish(arguments, *kernels);
  }
  Device device = kernels->device();
  kernels->operations->scatter(device, slot->batch(), layer, activation, outputs.data,
                               d_outputs.data, gradient);
  return finish(arguments, *kernels);
}

napi_value call_top_k(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "topK");
  NativeKernels* kernels = kernels_argument(arguments);
  const size_t rows = arguments.whole("rows", 1, kMostRows);
  const napi_value hidden_value = arguments.value();
  const Layer layer = arguments.layer();
  const FloatArray hidden = arguments.floats_of(hidden_value, "hidden", times(rows, layer.inputs));
  const size_t k = arguments.whole("k", 1, static_cast<double>(layer.outputs));
  const WordArray ids = arguments.words("ids", times(rows, k));
  const FloatArray logits = arguments.floats("logits", times(rows, k));
  const FloatArray sums = arguments.floats("logSumExp", rows);
  if (!arguments.ok()) return nullptr;
  Device device = kernels->device();
  kernels->operations->top_k(device, rows, hidden.data, layer, k, ids.data, logits.data, sums.data);
  return finish(arguments, *kernels);
}

napi_value call_blend(napi_env env, napi_callback_info info) {
  constexpr size_t kFew = 32;
  float few_coefficients[kFew];
  const float* few_sources[kFew];
  float* coefficients = few_coefficients;
  const float** sources = few_sources;

  Arguments arguments(env, info, "blend");
  NativeKernels* kernels = kernels_argument(arguments);
  const FloatArray target = arguments.floats("target", 0);
  if (!arguments.ok()) return nullptr;
  const size_t terms = arguments.left() / 2;
  if (terms > kFew) {
    coefficients = new (std::nothrow) float[terms];
    sources = new (std::nothrow) const float*[terms];
    if (coefficients == nullptr || sources == nullptr) {
      arguments.fail(kMemoryCode, "no memory for %zu terms", terms);
    }
  }
  for (size_t i = 0; i < terms && arguments.ok(); i++) {
    coefficients[i] = static_cast<float>(arguments.number("coefficient"));
    sources[i] = arguments.exact_floats("source", target.length).data;
  }
  if (arguments.ok() && target.length > 0) {
    Device device = kernels->device();
    kernels->operations->blend(device, target.length, target.data, terms, coefficients, sources);
  }
  if (coefficients != few_coefficients) delete[] coefficients;
  if (sources != few_sources) delete[] sources;
  return arguments.ok() ? finish(arguments, *kernels) : nullptr;
}

napi_value call_train_micro_batches(napi_env env, napi_callback_info info) {
  Layer layers[kMostLayers];
  Arguments arguments(env, info, "trainMicroBatches");
  NativeKernels* kernels = kernels_argument(arguments);
  if (kernels == nullptr) return nullptr;
  BatchSlot* slot = batch_argument(arguments, *kernels);
  if (slot == nullptr) return nullptr;
  const Activation activation = arguments.activation();
  const Loss loss = arguments.loss();
  const size_t micro_rows = arguments.whole("microBatchRows", 1, kMostRows);
  const float rate = static_cast<float>(arguments.number("learningRate"));
  const FloatArray losses = arguments.floats("losses", slot->batch().rows);
  if (!arguments.ok()) return nullptr;
  const size_t count = arguments.left() / kLayerArguments;
  if (count < 2 || count > kMostLayers) {
    arguments.fail(kArgumentCode, "there are %zu layers, expected 2 to %zu", count, kMostLayers);
    return nullptr;
  }
  for (size_t i = 0; i < count && arguments.ok(); i++) {
    layers[i] = arguments.layer();
    if (i > 0 && arguments.ok() && layers[i].inputs != layers[i - 1].outputs) {
      arguments.fail(kArgumentCode, "layer %zu has %zu inputs, the one before has %zu outputs", i,
                     layers[i].inputs, layers[i - 1].outputs);
    }
  }
  if (!has_features(arguments, *slot, layers[0]) ||
      !has_classes(arguments, *slot, layers[count - 1])) {
    return nullptr;
  }
  Device device = kernels->device();
  kernels->operations->train_micro_batches(device, slot->batch(), count, layers, activation, loss,
                                           micro_rows, rate, kernels->options, losses.data);
  return finish(arguments, *kernels);
}

}  // namespace heterosgd
