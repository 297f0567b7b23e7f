// The operations for AVX2 and FMA.
#if defined(__x86_64__)
#define HETEROSGD_LANES 8
#define HETEROSGD_BF16 0
#define HETEROSGD_TABLE kAvx2
#include "operations.inc.h"
#endif
