// The two losses over one block of classes. scores[row][c] is the logit of class `first` + c, c below `count`. A row's sums come in
// parts, one for each slice of SLICE classes, so that long rows keep many groups busy; parts of all blocks are put together at the end.

#define SLICE 2048
#define LOWEST (-3.402823466e+38f)

// ln(1 + eᶻ), in the form that cannot overflow.
FUNCTION float softplus(const float z) {
  return fmax(z, 0.0f) + log1p(exp(-fabs(z)));
}

// Σ exp(score − maximum) with the maximum, of the softmax. Groups: rows, slices.
KERNEL softmax_parts(
  POINTER(const float, scores),
  const u32 count,
  POINTER(float, maxima),
  POINTER(float, sums),
  const u32 parts,
  const u32 first_part
) {
  SHARED float room[GROUP_ITEMS];
  OPEN(const float, scores);
  OPEN(float, maxima);
  OPEN(float, sums);
  const u64 row = GROUP(0);
  const u32 begin = GROUP(1) * SLICE;
  const u32 end = min(count, begin + SLICE);
  // Lowest, not −∞, whose difference to itself is NaN. NaN and +∞ among the scores make the sum NaN or the maximum +∞.
  float most = LOWEST;
  float sum = 0;
  for (u32 c = begin + LOCAL(0); c < end; c += GROUP_ITEMS) {
    const float z = scores[row * count + c];
    if (z > most) {
      sum = fma(sum, exp(most - z), 1.0f);
      most = z;
    } else {
      sum += exp(z - most);
    }
  }
  const float maximum = group_max(room, most);
  const float total = group_sum(room, sum * exp(most - maximum));
  if (LOCAL(0) > 0) return;
  maxima[row * parts + first_part + GROUP(1)] = maximum;
  sums[row * parts + first_part + GROUP(1)] = total;
}

// Σ ln(1 + eᶻ), of the sigmoid. Groups: rows, slices.
KERNEL sigmoid_parts(
  POINTER(const float, scores),
  const u32 count,
  POINTER(float, sums),
  const u32 parts,
  const u32 first_part
) {
  SHARED float room[GROUP_ITEMS];
  OPEN(const float, scores);
  OPEN(float, sums);
  const u64 row = GROUP(0);
  const u32 begin = GROUP(1) * SLICE;
  const u32 end = min(count, begin + SLICE);
  float sum = 0;
  for (u32 c = begin + LOCAL(0); c < end; c += GROUP_ITEMS) sum += softplus(scores[row * count + c]);
  const float total = group_sum(room, sum);
  if (LOCAL(0) == 0) sums[row * parts + first_part + GROUP(1)] = total;
}

// Remembers the scores of the labels that lie in this block, an item a label.
KERNEL pick_labels(
  POINTER(const float, scores),
  const u32 first,
  const u32 count,
  POINTER(const u32, labels),
  POINTER(const u32, label_rows),
  const u32 entries,
  POINTER(float, picked)
) {
  OPEN(const float, scores);
  OPEN(const u32, labels);
  OPEN(const u32, label_rows);
  OPEN(float, picked);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i >= entries) return;
  const u32 label = labels[i];
  if (label < first || label - first >= count) return;
  picked[i] = scores[(u64)label_rows[i] * count + (label - first)];
}

// Puts a row's parts together: the maximum of all, and the sum as if each part had had that maximum.
FUNCTION float combine_parts(
  GLOBAL const float *const maxima,
  GLOBAL const float *const sums,
  const u32 parts,
  GLOBAL float *const maximum
) {
  float most = LOWEST;
  for (u32 part = 0; part < parts; part++) most = fmax(most, maxima[part]);
  float sum = 0;
  for (u32 part = 0; part < parts; part++) sum += sums[part] * exp(maxima[part] - most);
  *maximum = most;
  return sum;
}

// Losses of the softmax; row_maxima and row_inverses (of the sums) are what its derivatives need. An item a row.
KERNEL softmax_losses(
  POINTER(const float, maxima),
  POINTER(const float, sums),
  const u32 parts,
  POINTER(const u32, label_offsets),
  POINTER(const float, picked),
  const u32 rows,
  POINTER(float, row_maxima),
  POINTER(float, row_inverses),
  POINTER(float, losses)
) {
  OPEN(const float, maxima);
  OPEN(const float, sums);
  OPEN(const u32, label_offsets);
  OPEN(const float, picked);
  OPEN(float, row_maxima);
  OPEN(float, row_inverses);
  OPEN(float, losses);
  const u32 row = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (row >= rows) return;
  const u64 start = (u64)row * parts;
  const float sum = combine_parts(maxima + start, sums + start, parts, row_maxima + row);
  row_inverses[row] = 1 / sum;
  const u32 begin = label_offsets[row];
  const u32 end = label_offsets[row + 1];
  // Differences to the maximum first: logits may be large, and the loss small.
  float below = 0;
  for (u32 i = begin; i < end; i++) below += row_maxima[row] - picked[i];
  losses[row] = begin == end ? 0 : below / (float)(end - begin) + log(sum);
}

// Losses of the sigmoid. An item a row.
KERNEL sigmoid_losses(
  POINTER(const float, sums),
  const u32 parts,
  POINTER(const u32, label_offsets),
  POINTER(const float, picked),
  const u32 rows,
  POINTER(float, losses)
) {
  OPEN(const float, sums);
  OPEN(const u32, label_offsets);
  OPEN(const float, picked);
  OPEN(float, losses);
  const u32 row = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (row >= rows) return;
  const u32 begin = label_offsets[row];
  const u32 end = label_offsets[row + 1];
  float loss = 0;
  for (u32 part = 0; part < parts; part++) loss += sums[(u64)row * parts + part];
  for (u32 i = begin; i < end; i++) loss -= picked[i];
  losses[row] = begin == end ? 0 : loss;
}

// ln Σ exp(score) of each row. An item a row.
KERNEL log_sum_exp(
  POINTER(const float, maxima),
  POINTER(const float, sums),
  const u32 parts,
  const u32 rows,
  POINTER(float, out)
) {
  OPEN(const float, maxima);
  OPEN(const float, sums);
  OPEN(float, out);
  const u32 row = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (row >= rows) return;
  const u64 start = (u64)row * parts;
  const float sum = combine_parts(maxima + start, sums + start, parts, out + row);
  out[row] += log(sum);
}

// Scores become the loss's derivatives by them, but for what labels contribute; 0 in rows without labels. Groups: rows, slices.
KERNEL softmax_derivatives(
  POINTER(float, scores),
  const u32 count,
  POINTER(const u32, label_offsets),
  POINTER(const float, row_maxima),
  POINTER(const float, row_inverses)
) {
  OPEN(float, scores);
  OPEN(const u32, label_offsets);
  OPEN(const float, row_maxima);
  OPEN(const float, row_inverses);
  const u64 row = GROUP(0);
  const u32 begin = GROUP(1) * SLICE;
  const u32 end = min(count, begin + SLICE);
  const u32 labelled = label_offsets[row] < label_offsets[row + 1];
  const float most = row_maxima[row];
  const float inverse = row_inverses[row];
  for (u32 c = begin + LOCAL(0); c < end; c += GROUP_ITEMS) {
    const u64 i = row * count + c;
    scores[i] = labelled ? exp(scores[i] - most) * inverse : 0;
  }
}

KERNEL sigmoid_derivatives(
  POINTER(float, scores),
  const u32 count,
  POINTER(const u32, label_offsets)
) {
  OPEN(float, scores);
  OPEN(const u32, label_offsets);
  const u64 row = GROUP(0);
  const u32 begin = GROUP(1) * SLICE;
  const u32 end = min(count, begin + SLICE);
  const u32 labelled = label_offsets[row] < label_offsets[row + 1];
  for (u32 c = begin + LOCAL(0); c < end; c += GROUP_ITEMS) {
    const u64 i = row * count + c;
    scores[i] = labelled ? sigmoid(scores[i]) : 0;
  }
}

// What labels contribute: −1/n for each of a row's n labels (`share`), or −1. An item a label.
KERNEL subtract_labels(
  POINTER(float, scores),
  const u32 first,
  const u32 count,
  POINTER(const u32, label_offsets),
  POINTER(const u32, labels),
  POINTER(const u32, label_rows),
  const u32 entries,
  const u32 share
) {
  OPEN(float, scores);
  OPEN(const u32, label_offsets);
  OPEN(const u32, labels);
  OPEN(const u32, label_rows);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i >= entries) return;
  const u32 label = labels[i];
  if (label < first || label - first >= count) return;
  const u32 row = label_rows[i];
  const u32 own = label_offsets[row + 1] - label_offsets[row];
  scores[(u64)row * count + (label - first)] -= share ? 1 / (float)own : 1;
}
