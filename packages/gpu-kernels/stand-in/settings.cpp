#include "settings.h"

#include <cstdlib>

namespace stand_in {
namespace {

bool to_number(const std::string& text, uint64_t most, uint64_t* number) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return false;
  *number = std::strtoull(text.c_str(), nullptr, 10);
  return *number <= most;
}

bool set_number(const std::string& value, int* target) {
  uint64_t number;
  if (!to_number(value, 1'000'000, &number)) return false;
  *target = static_cast<int>(number);
  return true;
}

bool set_fail(const std::string& value, Settings* target) {
  const size_t at = value.find('@');
  const size_t equals = value.find('=');
  if (value.empty()) {
    target->fail_after = 0;
    return true;
  }
  if (at == std::string::npos || equals == std::string::npos || equals < at) return false;
  uint64_t after, code;
  if (!to_number(value.substr(at + 1, equals - at - 1), UINT64_MAX, &after)) return false;
  if (!to_number(value.substr(equals + 1), 999, &code)) return false;
  target->fail_name = value.substr(0, at);
  target->fail_after = after;
  target->fail_code = static_cast<int>(code);
  return true;
}

bool set_in(Settings* target, const std::string& name, const std::string& value) {
  if (name == "DEVICES") return set_number(value, &target->devices);
  if (name == "MEMORY") return to_number(value, UINT64_MAX, &target->memory);
  if (name == "DRIVER_VERSION") return set_number(value, &target->driver_version);
  if (name == "CAPABILITY") return set_number(value, &target->capability);
  if (name == "FAIL") return set_fail(value, target);
  if (name == "ORDER") {
    if (value == "forward") target->order = Order::kForward;
    else if (value == "backward") target->order = Order::kBackward;
    else if (value == "shuffled") target->order = Order::kShuffled;
    else return false;
    return true;
  }
  if (name == "STREAMS") {
    if (value == "lazy") target->streams = Streams::kLazy;
    else if (value == "eager") target->streams = Streams::kEager;
    else if (value == "copies-first") target->streams = Streams::kCopiesFirst;
    else return false;
    return true;
  }
  return false;
}

Settings from_environment() {
  Settings result;
  for (const char* name :
       {"DEVICES", "MEMORY", "DRIVER_VERSION", "CAPABILITY", "FAIL", "ORDER", "STREAMS"}) {
    const char* const value = std::getenv((std::string("CUDA_STAND_IN_") + name).c_str());
    // A typing mistake would silently test something else.
    if (value != nullptr && !set_in(&result, name, value)) std::abort();
  }
  return result;
}

}  // namespace

Settings& settings() {
  static Settings only = from_environment();
  return only;
}

bool set(const std::string& name, const std::string& value) {
  return set_in(&settings(), name, value);
}

}  // namespace stand_in
