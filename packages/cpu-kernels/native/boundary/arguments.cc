#include "arguments.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <new>

namespace heterosgd {

namespace {

constexpr size_t kMessageSize = 512;
constexpr size_t kAnyMore = std::numeric_limits<size_t>::max();

void throw_formatted(napi_env env, const char* code, const char* operation, const char* format,
                     va_list arguments) {
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) != napi_ok || pending) return;
  char message[kMessageSize];
  int used = std::snprintf(message, sizeof message, "%s: ", operation);
  if (used < 0) used = 0;
  std::vsnprintf(message + used, sizeof message - static_cast<size_t>(used), format, arguments);
  napi_throw_error(env, code, message);
}

const char* type_of(napi_env env, napi_value value) {
  bool is_array = false;
  if (napi_is_typedarray(env, value, &is_array) == napi_ok && is_array) {
    napi_typedarray_type type;
    if (napi_get_typedarray_info(env, value, &type, nullptr, nullptr, nullptr, nullptr) ==
        napi_ok) {
      switch (type) {
        case napi_float32_array: return "a Float32Array";
        case napi_float64_array: return "a Float64Array";
        case napi_uint32_array: return "a Uint32Array";
        case napi_int32_array: return "an Int32Array";
        default: return "another typed array";
      }
    }
  }
  napi_valuetype type;
  if (napi_typeof(env, value, &type) != napi_ok) return "something else";
  switch (type) {
    case napi_undefined: return "undefined";
    case napi_null: return "null";
    case napi_boolean: return "a boolean";
    case napi_number: return "a number";
    case napi_string: return "a string";
    case napi_symbol: return "a symbol";
    case napi_function: return "a function";
    case napi_bigint: return "a bigint";
    default: return "an object";
  }
}

}  // namespace

void throw_error(napi_env env, const char* code, const char* operation, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  throw_formatted(env, code, operation, format, arguments);
  va_end(arguments);
}

size_t times(size_t rows, size_t width) {
  size_t product;
  const bool overflows = __builtin_mul_overflow(rows, width, &product);
  return overflows ? std::numeric_limits<size_t>::max() : product;
}

Arguments::Arguments(napi_env env, napi_callback_info info, const char* operation)
    : env_(env), operation_(operation) {
  size_t count = sizeof few_ / sizeof few_[0];
  ok_ = napi_get_cb_info(env, info, &count, few_, nullptr, nullptr) == napi_ok;
  if (!ok_) return;
  count_ = count;
  if (count <= sizeof few_ / sizeof few_[0]) return;
  values_ = new (std::nothrow) napi_value[count];
  if (values_ == nullptr) {
    values_ = few_;
    fail(kMemoryCode, "no memory for %zu arguments", count);
    return;
  }
  ok_ = napi_get_cb_info(env, info, &count, values_, nullptr, nullptr) == napi_ok;
}

Arguments::~Arguments() {
  if (values_ != few_) delete[] values_;
}

void Arguments::fail(const char* code, const char* format, ...) {
  ok_ = false;
  va_list arguments;
  va_start(arguments, format);
  throw_formatted(env_, code, operation_, format, arguments);
  va_end(arguments);
}

napi_value Arguments::value() {
  if (!ok_) return nullptr;
  if (next_ >= count_) {
    fail(kArgumentCode, "%zu arguments are too few", count_);
    return nullptr;
  }
  return values_[next_++];
}

size_t Arguments::whole(const char* name, double least, double most) {
  const napi_value given = value();
  if (!ok_) return 0;
  double number;
  if (napi_get_value_double(env_, given, &number) != napi_ok) {
    fail(kArgumentCode, "%s is %s, expected a whole number", name, type_of(env_, given));
    return 0;
  }
  // Written so that NaN fails.
  if (!(number >= least && number <= most) || number != std::floor(number)) {
    fail(kArgumentCode, "%s is %.17g, expected a whole number from %.0f to %.0f", name, number,
         least, most);
    return 0;
  }
  return static_cast<size_t>(number);
}

double Arguments::number(const char* name) {
  const napi_value given = value();
  if (!ok_) return 0;
  double number;
  if (napi_get_value_double(env_, given, &number) != napi_ok) {
    fail(kArgumentCode, "%s is %s, expected a number", name, type_of(env_, given));
    return 0;
  }
  if (!(std::fabs(number) <= std::numeric_limits<float>::max())) {
    fail(kArgumentCode, "%s is %g, expected a number that is finite in float32", name, number);
    return 0;
  }
  return number;
}

bool Arguments::boolean(const char* name) {
  const napi_value given = value();
  if (!ok_) return false;
  bool result = false;
  if (napi_get_value_bool(env_, given, &result) != napi_ok) {
    fail(kArgumentCode, "%s is %s, expected a boolean", name, type_of(env_, given));
  }
  return result;
}

void* Arguments::elements(napi_value given, const char* name, napi_typedarray_type type,
                          size_t least, size_t most, size_t* length) {
  *length = 0;
  if (!ok_) return nullptr;
  bool is_array = false;
  napi_typedarray_type actual;
  size_t count = 0;
  void* data = nullptr;
  if (napi_is_typedarray(env_, given, &is_array) != napi_ok || !is_array ||
      napi_get_typedarray_info(env_, given, &actual, &count, &data, nullptr, nullptr) != napi_ok ||
      actual != type) {
    fail(kArrayCode, "%s is %s, expected a %s", name, type_of(env_, given),
         type == napi_float32_array ? "Float32Array" : "Uint32Array");
    return nullptr;
  }
  // A detached array has neither.
  if (data == nullptr) count = 0;
  if (count < least || count > most) {
    fail(kArrayCode, "%s has %zu elements, expected %s%zu", name, count,
         most == kAnyMore ? "at least " : "", least);
    return nullptr;
  }
  *length = count;
  return data;
}

FloatArray Arguments::floats(const char* name, size_t least) {
  return floats_of(value(), name, least);
}

FloatArray Arguments::floats_of(napi_value given, const char* name, size_t least) {
  FloatArray array;
  array.data = static_cast<float*>(
      elements(given, name, napi_float32_array, least, kAnyMore, &array.length));
  return array;
}

FloatArray Arguments::exact_floats(const char* name, size_t count) {
  FloatArray array;
  array.data = static_cast<float*>(
      elements(value(), name, napi_float32_array, count, count, &array.length));
  return array;
}

WordArray Arguments::words(const char* name, size_t least) {
  WordArray array;
  array.data = static_cast<uint32_t*>(
      elements(value(), name, napi_uint32_array, least, kAnyMore, &array.length));
  return array;
}

FloatArray Arguments::optional_floats(const char* name, size_t least) {
  if (!ok_) return FloatArray{};
  if (next_ < count_) {
    napi_valuetype type;
    if (napi_typeof(env_, values_[next_], &type) == napi_ok &&
        (type == napi_null || type == napi_undefined)) {
      next_++;
      return FloatArray{};
    }
  }
  return floats(name, least);
}

}  // namespace heterosgd
