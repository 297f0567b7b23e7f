// All kernels as one source, after `cuda.h` or `opencl.h`.

#include "activation.cu"
#include "reduce.cu"
#include "update.cu"
#include "matrix.cu"
#include "gather.cu"
#include "scatter.cu"
#include "loss.cu"
#include "rank.cu"
#include "blend.cu"
