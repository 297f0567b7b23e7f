// What the parts of the addon agree on: arrays as the operations see them, and the table of
// operations that each instruction set provides. The operations mean what
// `packages/model/src/kernels/contract.ts` says of them. Nothing here checks anything: boundary/
// has checked every length, index and number before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scratch.h"
#include "thread_pool.h"

namespace heterosgd {

static_assert(sizeof(size_t) == 8, "products of sizes below 2^32 must fit: 64-bit systems only");

enum class Activation : int { kRelu = 0, kSigmoid = 1, kTanh = 2 };
enum class Loss : int { kSoftmax = 0, kSigmoid = 1 };
enum class Rule : int { kNone = 0, kAdd = 1, kAdagrad = 2, kAdam = 3 };

// First layer: weights are inputs x outputs (a row a feature). Later ones: outputs x inputs (a row
// a unit or class). Row-major without padding.
struct Layer {
  const float* weights;
  const float* bias;
  size_t inputs;
  size_t outputs;
};

// Where a layer's gradient goes; arrays of the layer's shapes. The target may be the layer itself.
struct Gradient {
  Rule rule;    // kNone: none is wanted, and nothing else here counts
  float scale;  // kAdd: target += scale * gradient. Else the rule is given scale * gradient
  float rate;   // Adagrad: learning rate. Adam: learning rate / (1 - beta1^step)
  float epsilon;
  float beta1;
  float beta2;
  float rest1;       // 1 - beta1 and 1 - beta2, which would lose digits if taken in float32
  float rest2;
  float correction;  // Adam: 1 / (1 - beta2^step)
  float* weights;
  float* bias;
  float* state_weights[2];  // Adagrad: sum of squares. Adam: first and second moment
  float* state_bias[2];
};

// How many indices after the last non-zero may be read: they repeat a valid one.
constexpr size_t kPrefetchAhead = 24;

// A checked copy of the caller's batch, which nobody else can change.
struct Batch {
  uint32_t rows;
  uint32_t non_zeros;
  const uint32_t* offsets;  // rows + 1
  const uint32_t* indices;  // non_zeros + kPrefetchAhead
  const float* values;
  const uint32_t* label_offsets;  // rows + 1
  const uint32_t* labels;         // row by row, ascending
  // The same non-zeros feature by feature, made when a rule needs them (see column_order.h).
  uint32_t columns;              // number of different features
  const uint32_t* column_index;  // the features
  const uint32_t* column_end;    // columns; non-zeros of the i-th: column_end[i-1] .. column_end[i]
  const uint32_t* column_row;
  const float* column_value;
};

struct OutputOptions {
  // Floats that may be kept between the softmax's passes; blocks beyond have logits computed twice.
  size_t kept_floats;
  bool bf16;
};

// What an operation works with besides its arguments.
struct Device {
  ThreadPool& pool;
  Scratch& scratch;  // named buffers that grow and are kept
};

// The largest sizes that a device's work buffers are to serve.
struct Plan {
  size_t rows;
  bool with_rule;      // whether gradients go through Adagrad or Adam
  size_t width_count;  // at least 3
  const size_t* widths;       // features, hidden units of each layer, classes
  const uint32_t* no_labels;  // rows + 1 zeros
  OutputOptions options;
};

// One instruction set's operations.
struct Operations {
  void (*gather)(Device&, const Batch&, const Layer&, Activation, float* out);
  void (*dense)(Device&, size_t rows, const float* input, const Layer&, Activation, float* out);
  void (*output)(Device&, const Batch&, const float* hidden, const Layer&, Loss, const Gradient&,
                 const OutputOptions&, float* d_hidden /* may be null */, float* losses);
  void (*dense_backward)(Device&, size_t rows, const float* input, const Layer&, Activation,
                         const float* outputs, float* d_outputs, const Gradient&, float* d_input);
  void (*scatter)(Device&, const Batch&, const Layer&, Activation, const float* outputs,
                  float* d_outputs, const Gradient&);
  void (*top_k)(Device&, size_t rows, const float* hidden, const Layer&, size_t k, uint32_t* ids,
                float* logits, float* log_sum_exp);
  void (*blend)(Device&, size_t length, float* target, size_t terms, const float* coefficients,
                const float* const* sources);
  // Lock-free: every thread takes sub-batches of `micro_rows` rows and runs whole steps of plain
  // SGD on them (scale = -learning_rate / rows of the sub-batch), in place, without waiting for
  // others. `options` is for all threads together.
  void (*train_micro_batches)(Device&, const Batch&, size_t layers, const Layer*, Activation, Loss,
                              size_t micro_rows, float learning_rate, const OutputOptions&,
                              float* losses);
  // Takes the buffers that the operations would at these sizes, and runs nothing.
  void (*plan)(size_t threads, Scratch&, const Plan&);
};

// Each instruction set's table lives in a file of its own, compiled for it alone.
extern const Operations kPortable;
#if defined(__x86_64__)
extern const Operations kAvx2;
extern const Operations kAvx512;
extern const Operations kAvx512Bf16;  // as kAvx512, with OutputOptions::bf16 honoured
#endif

}  // namespace heterosgd
