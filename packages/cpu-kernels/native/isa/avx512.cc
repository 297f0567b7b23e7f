// The operations for AVX-512 (F, VL, DQ, BW).
#if defined(__x86_64__)
#define HETEROSGD_LANES 16
#define HETEROSGD_BF16 0
#define HETEROSGD_TABLE kAvx512
#include "operations.inc.h"
#endif
