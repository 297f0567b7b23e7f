// What the work buffers come to, by taking those of a step and a ranking of the largest size.
#pragma once

#include "dense.h"
#include "output.h"
#include "stripes.h"
#include "top_k.h"

namespace heterosgd {
namespace {

// Rankings are planned for so many classes a row.
constexpr size_t kPlannedClasses = 10;

// A batch of so many rows without labels is enough for taking the output layer's buffers.
HETEROSGD_LOCAL void plan(size_t threads, Scratch& scratch, const Plan& plan) {
  const size_t layers = plan.width_count - 1;
  for (size_t i = 1; i + 1 < layers; i++) {
    const Layer layer{nullptr, nullptr, plan.widths[i], plan.widths[i + 1]};
    if (!prepare_dense(scratch, threads, plan.rows, layer)) return;
  }
  Stripes stripes;
  const bool divides = threads > 1 && !plan.with_rule;
  if (divides && !take_stripes(plan.rows, threads, scratch, &stripes)) return;
  Batch batch{};
  batch.rows = static_cast<uint32_t>(plan.rows);
  batch.label_offsets = plan.no_labels;
  const Layer top{nullptr, nullptr, plan.widths[layers - 1], plan.widths[layers]};
  Gradient gradient{};
  gradient.rule = plan.with_rule ? Rule::kAdam : Rule::kAdd;
  float any = 0;
  OutputTask task =
      output_task(batch, nullptr, top, Loss::kSoftmax, gradient, &any, &any, threads);
  if (!prepare_output(task, scratch, 0, plan.options)) return;
  TopKTask ranking{plan.rows,      nullptr, &top,    least(kPlannedClasses, top.outputs), threads,
                   Panels(plan.rows), nullptr, nullptr};
  prepare_top_k(ranking, scratch);
}

}  // namespace
}  // namespace heterosgd
