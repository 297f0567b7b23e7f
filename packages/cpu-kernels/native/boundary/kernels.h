// One kernels object: what JavaScript holds by a handle that only this addon can have made.
#pragma once

#include "../batch_slot.h"
#include "arguments.h"

namespace heterosgd {

class Environment;

struct NativeKernels {
  ThreadPool* pool = nullptr;
  Scratch* scratch = nullptr;
  const Operations* operations = nullptr;
  OutputOptions options{};
  BatchSlot slots[2];

  // The list of all that live in one environment, so that none outlives it.
  Environment* environment = nullptr;
  NativeKernels* before = nullptr;
  NativeKernels* after = nullptr;

  bool disposed() const { return pool == nullptr; }
  // What operations work with; not once disposed.
  Device device() const { return Device{*pool, *scratch}; }
  // Ends the threads and gives the memory back. Harmless when done again.
  void release();
};

// An instance of the addon: one for the main thread, one for each worker.
class Environment {
 public:
  void add(NativeKernels* kernels);
  void remove(NativeKernels* kernels);
  // Releases all. Their handles stay, as disposed ones.
  void release_all();

 private:
  NativeKernels* first_ = nullptr;
};

// What is decided when kernels are created: threads, instruction set, bf16, kept bytes.
struct Settings {
  size_t threads;
  const Operations* operations;  // null, with a pending error, if an argument is wrong
  OutputOptions options;
};
Settings settings_arguments(Arguments& arguments);

// Sets up what belongs to an environment. False with a pending error if that fails.
bool open_environment(napi_env env);

// create(threads, instruction set, bf16, kept bytes): the handle.
napi_value create_kernels(napi_env env, napi_callback_info info);
// dispose(handle)
napi_value dispose_kernels(napi_env env, napi_callback_info info);

// The kernels of the handle that is the next argument; null, with a pending error, if it is none or
// disposed.
NativeKernels* kernels_argument(Arguments& arguments);

}  // namespace heterosgd
