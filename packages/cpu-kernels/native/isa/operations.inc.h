// One instruction set's table of operations. Included once by each instruction set's file, which
// defines
//   HETEROSGD_LANES  float32 lanes of a vector
//   HETEROSGD_BF16   1 where products in bfloat16 are to be had
//   HETEROSGD_TABLE  the table's name
#include "blend.h"
#include "dense.h"
#include "gather.h"
#include "micro_batches.h"
#include "output.h"
#include "plan.h"
#include "scatter.h"
#include "top_k.h"

namespace heterosgd {

extern const Operations HETEROSGD_TABLE = {
    gather, dense, output, dense_backward, scatter, top_k, blend, train_micro_batches, plan,
};

}  // namespace heterosgd
