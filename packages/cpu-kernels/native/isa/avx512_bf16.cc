// The operations for AVX-512 with products in bfloat16 (AVX512_BF16).
#if defined(__x86_64__)
#define HETEROSGD_LANES 16
#define HETEROSGD_BF16 1
#define HETEROSGD_TABLE kAvx512Bf16
#include "operations.inc.h"
#endif
