/**
 * The dialect of the kernels as OpenCL C 1.2; cuda.h has the same names in CUDA C++, and says what they
 * mean.
 */

typedef uint u32;
typedef ulong u64;

#define KERNEL __kernel void
#define FUNCTION static inline

#define POINTER(type, name) __global type *name##_base, const u64 name##_start
#define OPEN(type, name) __global type *const name = name##_base + name##_start

#define GLOBAL __global
#define SHARED_POINTER __local
#define RESTRICT restrict

#define SHARED __local

#define GROUP(d) ((u32)get_group_id(d))
#define GROUPS(d) ((u32)get_num_groups(d))
#define LOCAL(d) ((u32)get_local_id(d))
#define LOCAL_SIZE(d) ((u32)get_local_size(d))

#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

#define FLOAT_BITS(value) as_uint(value)
