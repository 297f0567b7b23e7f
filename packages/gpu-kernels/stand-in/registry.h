/** The kernels that were compiled in, by name. */
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace stand_in {

struct Kernel {
  std::string name;
  /** Bytes of each parameter, in order. */
  std::vector<size_t> parameters;
  /** Copies the arguments; the result runs one work item. */
  std::function<std::function<void()>(void**)> bind;
};

std::vector<Kernel>& kernels();

template <typename... P, size_t... I>
std::tuple<P...> copy_arguments(void** values, std::index_sequence<I...>) {
  std::tuple<P...> copies;
  (std::memcpy(static_cast<void*>(&std::get<I>(copies)), values[I], sizeof(P)), ...);
  return copies;
}

template <typename... P>
bool add_kernel(const char* name, void (*kernel)(P...)) {
  const auto bind = [kernel](void** values) -> std::function<void()> {
    const auto copies = copy_arguments<P...>(values, std::index_sequence_for<P...>{});
    return [kernel, copies] { std::apply(kernel, copies); };
  };
  kernels().push_back({name, {sizeof(P)...}, bind});
  return true;
}

}  // namespace stand_in

#define STAND_IN_KERNEL(name) \
  static const bool name##_is_added = stand_in::add_kernel(#name, name);
