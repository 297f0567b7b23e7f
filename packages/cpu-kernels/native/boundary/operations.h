// The operations as functions for JavaScript. Each checks everything, then runs.
#pragma once

#include "arguments.h"

namespace heterosgd {

// Which functions the addon has and what they take: one more with every change, here and in
// src/native/addon-file.ts, so that neither side calls an older other one.
constexpr unsigned kInterface = 1;


// upload(kernels, slot, rows, offsets, indices, values, label offsets, labels)
napi_value call_upload(napi_env env, napi_callback_info info);
// gather(kernels, slot, layer, activation, out)
napi_value call_gather(napi_env env, napi_callback_info info);
// dense(kernels, rows, input, layer, activation, out)
napi_value call_dense(napi_env env, napi_callback_info info);
// output(kernels, slot, hidden, layer, loss, gradient, dHidden or null, losses)
napi_value call_output(napi_env env, napi_callback_info info);
// denseBackward(kernels, rows, input, layer, activation, outputs, dOutputs, gradient, dInput)
napi_value call_dense_backward(napi_env env, napi_callback_info info);
// scatter(kernels, slot, layer, activation, outputs, dOutputs, gradient)
napi_value call_scatter(napi_env env, napi_callback_info info);
// topK(kernels, rows, hidden, layer, k, ids, logits, logSumExp)
napi_value call_top_k(napi_env env, napi_callback_info info);
// blend(kernels, target, [coefficient, source]...)
napi_value call_blend(napi_env env, napi_callback_info info);
// trainMicroBatches(kernels, slot, activation, loss, rows of a step, learning rate, losses,
// layer...)
napi_value call_train_micro_batches(napi_env env, napi_callback_info info);

// workBytes(kernels): what their buffers hold.
napi_value call_work_bytes(napi_env env, napi_callback_info info);
// plannedBytes(threads, instruction set, bf16, kept bytes, rows, non-zeros, labels, with a rule,
// features, hidden units..., classes): what they come to hold.
napi_value call_planned_bytes(napi_env env, napi_callback_info info);
// placeOf(array): where its memory begins, modulo 2 MiB.
napi_value call_place_of(napi_env env, napi_callback_info info);
// settle(array): asks for huge pages where it is large, and touches every page.
napi_value call_settle(napi_env env, napi_callback_info info);
// supported(): bits by the order of InstructionSet, then one for bfloat16.
napi_value call_supported(napi_env env, napi_callback_info info);
// interfaceVersion(): kInterface.
napi_value call_interface_version(napi_env env, napi_callback_info info);

}  // namespace heterosgd
