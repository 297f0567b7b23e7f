// All kernels as one source, after `cuda.h` or `opencl.h`.

#include "activation.cu"
#include "gather.cu"
#include "blend.cu"
