/**
 * CUDA C++ for g++: what kernels/cuda.h expands to. Each work item is a fiber, which others replace only
 * at barriers; blocks run one after another. So indices and shared memory can be plain statics.
 */
#pragma once

#include <math.h>

#include <cstring>

#include "registry.h"

#define __global__
#define __device__
#define __launch_bounds__(items)
#define __forceinline__ inline __attribute__((always_inline))

/** In a section, so that the launch can poison what a block shares. */
#define __shared__ static __attribute__((section("block_shared"), aligned(16)))

namespace stand_in {
struct Index {
  unsigned x, y, z;
};
extern Index thread_index, block_index, block_size, grid_size;
void wait_at_barrier(int line);
}  // namespace stand_in

#define threadIdx (stand_in::thread_index)
#define blockIdx (stand_in::block_index)
#define blockDim (stand_in::block_size)
#define gridDim (stand_in::grid_size)
#define __syncthreads() stand_in::wait_at_barrier(__LINE__)

inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* CUDA has these for all pairs of numbers; OpenCL and the kernels use them on equal types. */
template <typename T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
