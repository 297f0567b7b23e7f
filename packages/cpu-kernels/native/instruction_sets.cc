#include "instruction_sets.h"

namespace heterosgd {

bool supported(InstructionSet set) {
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx512:
      return supported(InstructionSet::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw");
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    case InstructionSet::kPortable:
      return true;
    default:
      return false;
  }
}

bool supports_bf16() {
#if defined(__x86_64__)
  return supported(InstructionSet::kAvx512) && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

const Operations* operations_of(InstructionSet set, bool bf16) {
  if (!supported(set)) return nullptr;
  if (bf16 && (set != InstructionSet::kAvx512 || !supports_bf16())) return nullptr;
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx512:
      return bf16 ? &kAvx512Bf16 : &kAvx512;
    case InstructionSet::kAvx2:
      return &kAvx2;
#endif
    default:
      return &kPortable;
  }
}

}  // namespace heterosgd
