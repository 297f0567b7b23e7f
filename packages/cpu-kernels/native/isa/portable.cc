// The operations for the baseline of the processor's family: SSE2 on x86-64, NEON on arm64.
#define HETEROSGD_LANES 4
#define HETEROSGD_BF16 0
#define HETEROSGD_TABLE kPortable
#include "operations.inc.h"
