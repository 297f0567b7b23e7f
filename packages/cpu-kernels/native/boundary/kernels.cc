#include "kernels.h"

#include <new>

#include "../instruction_sets.h"

namespace heterosgd {

namespace {

// Marks handles, so that other objects that wrap native data are not taken for one.
constexpr napi_type_tag kTag = {0x9d2f6c1be0a74835, 0xa51c3f0e8b72d694};

// More threads than any processor has serve nobody, and take their stacks' memory.
constexpr double kMostThreads = 256;
constexpr double kMostBytes = 9007199254740991.0;

void finalize_kernels(napi_env, void* data, void*) {
  NativeKernels* kernels = static_cast<NativeKernels*>(data);
  if (kernels->environment != nullptr) kernels->environment->remove(kernels);
  kernels->release();
  delete kernels;
}

void release_environment(void* data) { static_cast<Environment*>(data)->release_all(); }

void finalize_environment(napi_env, void* data, void*) {
  Environment* environment = static_cast<Environment*>(data);
  environment->release_all();
  delete environment;
}

}  // namespace

void NativeKernels::release() {
  delete pool;
  delete scratch;
  pool = nullptr;
  scratch = nullptr;
}

void Environment::add(NativeKernels* kernels) {
  kernels->environment = this;
  kernels->before = nullptr;
  kernels->after = first_;
  if (first_ != nullptr) first_->before = kernels;
  first_ = kernels;
}

void Environment::remove(NativeKernels* kernels) {
  if (kernels->before != nullptr) kernels->before->after = kernels->after;
  if (kernels->after != nullptr) kernels->after->before = kernels->before;
  if (first_ == kernels) first_ = kernels->after;
  kernels->environment = nullptr;
}

void Environment::release_all() {
  while (first_ != nullptr) {
    NativeKernels* kernels = first_;
    remove(kernels);
    kernels->release();
  }
}

bool open_environment(napi_env env) {
  Environment* environment = new (std::nothrow) Environment;
  if (environment == nullptr ||
      napi_set_instance_data(env, environment, finalize_environment, nullptr) != napi_ok) {
    delete environment;
    throw_error(env, kMemoryCode, "load", "no memory for what belongs to a thread");
    return false;
  }
  // Before the environment's own data goes: threads must not run on while it is torn down.
  return napi_add_env_cleanup_hook(env, release_environment, environment) == napi_ok;
}

Settings settings_arguments(Arguments& arguments) {
  Settings settings{};
  settings.threads = arguments.whole("threads", 1, kMostThreads);
  const auto set = static_cast<InstructionSet>(arguments.whole("isa", 0, kInstructionSets - 1));
  settings.options.bf16 = arguments.boolean("bf16");
  settings.options.kept_floats = arguments.whole("keptBytes", 0, kMostBytes) / sizeof(float);
  if (!arguments.ok()) return settings;
  settings.operations = operations_of(set, settings.options.bf16);
  if (settings.operations == nullptr) {
    arguments.fail(kIsaCode, "the processor lacks this instruction set%s",
                   settings.options.bf16 ? ", or products in bfloat16 with it" : "");
  }
  return settings;
}

napi_value create_kernels(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "create");
  const Settings settings = settings_arguments(arguments);
  if (!arguments.ok()) return nullptr;
  Environment* environment = nullptr;
  if (napi_get_instance_data(env, reinterpret_cast<void**>(&environment)) != napi_ok) {
    return nullptr;
  }

  NativeKernels* kernels = new (std::nothrow) NativeKernels;
  if (kernels != nullptr) {
    kernels->pool = new (std::nothrow) ThreadPool(settings.threads);
    kernels->scratch = new (std::nothrow) Scratch(settings.threads);
  }
  if (kernels == nullptr || kernels->pool == nullptr || kernels->scratch == nullptr ||
      !kernels->pool->ok() || kernels->scratch->take_failure()) {
    if (kernels != nullptr) kernels->release();
    delete kernels;
    arguments.fail(kMemoryCode, "the system does not give %zu threads and their memory: use fewer threads or devices",
                   settings.threads);
    return nullptr;
  }
  kernels->operations = settings.operations;
  kernels->options = settings.options;

  napi_value handle;
  if (napi_create_object(env, &handle) != napi_ok ||
      napi_wrap(env, handle, kernels, finalize_kernels, nullptr, nullptr) != napi_ok) {
    kernels->release();
    delete kernels;
    arguments.fail(kMemoryCode, "no memory for a handle");
    return nullptr;
  }
  // From here on the finalizer frees it.
  environment->add(kernels);
  if (napi_type_tag_object(env, handle, &kTag) != napi_ok) return nullptr;
  return handle;
}

NativeKernels* kernels_argument(Arguments& arguments) {
  const napi_value handle = arguments.value();
  if (!arguments.ok()) return nullptr;
  const napi_env env = arguments.env();
  napi_valuetype type;
  bool tagged = false;
  void* data = nullptr;
  if (napi_typeof(env, handle, &type) != napi_ok || type != napi_object ||
      napi_check_object_type_tag(env, handle, &kTag, &tagged) != napi_ok || !tagged ||
      napi_unwrap(env, handle, &data) != napi_ok || data == nullptr) {
    arguments.fail(kArgumentCode, "these are no kernels of this addon");
    return nullptr;
  }
  NativeKernels* kernels = static_cast<NativeKernels*>(data);
  if (kernels->disposed()) {
    arguments.fail(kDisposedCode, "the kernels were disposed");
    return nullptr;
  }
  return kernels;
}

napi_value dispose_kernels(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info, "dispose");
  NativeKernels* kernels = kernels_argument(arguments);
  if (kernels == nullptr) return nullptr;
  if (kernels->environment != nullptr) kernels->environment->remove(kernels);
  kernels->release();
  return nullptr;
}

}  // namespace heterosgd
