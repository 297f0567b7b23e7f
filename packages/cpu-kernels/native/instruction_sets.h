// Which instruction set's operations this processor can run.
#pragma once

#include "contract.h"

namespace heterosgd {

// Fastest first, as `instructionSets` of native-kernels.ts.
enum class InstructionSet : unsigned { kAvx512 = 0, kAvx2 = 1, kPortable = 2 };
constexpr unsigned kInstructionSets = 3;

bool supported(InstructionSet set);
// Whether AVX-512's products in bfloat16 can be had.
bool supports_bf16();

// Null where it is not supported.
const Operations* operations_of(InstructionSet set, bool bf16);

}  // namespace heterosgd
