// Reading and checking what JavaScript passes. Only plain values are read (numbers and typed arrays
// by position, never properties), so that no code of the caller's runs between a check and its use.
#pragma once

#ifndef NAPI_VERSION
#define NAPI_VERSION 8
#endif
#include <node_api.h>

#include "../contract.h"

namespace heterosgd {

// The codes of CpuKernelsError.
constexpr const char* kArrayCode = "KERNEL_ARRAY";
constexpr const char* kBatchCode = "KERNEL_BATCH";
constexpr const char* kArgumentCode = "KERNEL_ARGUMENT";
constexpr const char* kMemoryCode = "KERNEL_MEMORY";
constexpr const char* kDisposedCode = "KERNEL_DISPOSED";
constexpr const char* kIsaCode = "ISA_UNSUPPORTED";

// Sizes are below 2^32, as a batch's indices are; products of two then fit into 64 bits.
constexpr double kMostUnits = 4294967295.0;
constexpr size_t kMostLayers = 64;

// Throws an Error with a `code`; the message is made as by printf, behind the operation's name.
void throw_error(napi_env env, const char* code, const char* operation, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

struct FloatArray {
  float* data = nullptr;
  size_t length = 0;
};
struct WordArray {
  uint32_t* data = nullptr;
  size_t length = 0;
};

// One call's arguments, read from the first to the last. After the first wrong one everything
// returns false or nothing, and an error is pending.
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info, const char* operation);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  napi_env env() const { return env_; }
  bool ok() const { return ok_; }
  size_t left() const { return count_ - next_; }
  napi_value value();
  void fail(const char* code, const char* format, ...) __attribute__((format(printf, 3, 4)));

  // A whole number from `least` to `most`.
  size_t whole(const char* name, double least, double most);
  // A number that is finite in float32.
  double number(const char* name);
  bool boolean(const char* name);
  // At least `least` elements.
  FloatArray floats(const char* name, size_t least);
  // The same of an argument that was taken by `value` before its length could be known.
  FloatArray floats_of(napi_value given, const char* name, size_t least);
  // Exactly `count` elements.
  FloatArray exact_floats(const char* name, size_t count);
  WordArray words(const char* name, size_t least);
  // As `floats`, or nothing where null or undefined was passed.
  FloatArray optional_floats(const char* name, size_t least);

  // weights, bias, inputs, outputs
  Layer layer();
  // rule, scale, learning rate, epsilon, beta1, beta2, step, weights, bias, state weights and bias
  // twice. All are passed whatever the rule; what it doesn't need is not looked at.
  Gradient gradient(const Layer& layer);
  // 0 .. 2, 0 .. 1
  Activation activation();
  Loss loss();

 private:
  // Null, with no length, where the array is not of this type or has not `least` to `most` elements.
  void* elements(napi_value given, const char* name, napi_typedarray_type type, size_t least,
                 size_t most, size_t* length);

  napi_env env_;
  const char* operation_;
  bool ok_ = true;
  size_t count_ = 0;
  size_t next_ = 0;
  napi_value few_[32];
  napi_value* values_ = few_;
};

// rows * width, or more than any array has if that overflows.
size_t times(size_t rows, size_t width);

}  // namespace heterosgd
