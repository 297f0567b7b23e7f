/**
 * The dialect of the kernels as CUDA C++; opencl.h has the same names in OpenCL C. Kernels use nothing
 * else of either language, but for what C itself and both mathematical libraries have: exp, log, sqrt,
 * tanh, fmax, fma, min, max, INFINITY.
 *
 *   KERNEL add(POINTER(float, target), const u32 length) {
 *     OPEN(float, target);
 *     …
 *   }
 *
 * Where the host passes a pointer, a kernel takes two parameters: the buffer, and the elements to skip
 * in it (u64). OpenCL knows no pointers into buffers.
 */
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

/* No launch has larger groups: what the compiler may count on when it shares out registers. */
#define KERNEL extern "C" __global__ void __launch_bounds__(256)
#define FUNCTION static __device__ __forceinline__

#define POINTER(type, name) type *name##_base, const u64 name##_start
#define OPEN(type, name) type *const name = name##_base + name##_start

/* Before a pointer's type: what it points to. */
#define GLOBAL
#define SHARED_POINTER
#define RESTRICT __restrict__

/* Before an array in a kernel's body: one for the whole group. */
#define SHARED __shared__

/* Dimension 0 or 1, a constant. */
#define GROUP(d) ((d) == 0 ? blockIdx.x : blockIdx.y)
#define GROUPS(d) ((d) == 0 ? gridDim.x : gridDim.y)
#define LOCAL(d) ((d) == 0 ? threadIdx.x : threadIdx.y)
#define LOCAL_SIZE(d) ((d) == 0 ? blockDim.x : blockDim.y)

/* Every work item of the group has to come here. */
#define BARRIER() __syncthreads()

#define FLOAT_BITS(value) __float_as_uint(value)
