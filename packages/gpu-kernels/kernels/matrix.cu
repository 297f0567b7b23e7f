// Products of matrices that lie in memory either way, by tiles in the group's memory: out[i][j] = Σ left[i][k] · right[k][j].
// An item (x, y) has the 16 elements of rows y, y + 16 … and columns x, x + 16 … of its group's tile of `out`.

#define TILE 64
#define DEPTH 16
#define SIDE 16
#define EACH (TILE / SIDE)
// From one k to the next in a tile: one more than its elements, so that no two items write to the same bank.
#define TILE_STRIDE (TILE + 1)
#define TILE_ROOM (DEPTH * TILE_STRIDE)

// Elements [outer][k] of a factor: i or j is the outer index.
typedef struct {
  GLOBAL const float *elements;
  u32 outer_stride;
  u32 inner_stride;
  u32 outer_end;
} Factor;

FUNCTION Factor factor(
  GLOBAL const float *const elements,
  const u32 outer_stride,
  const u32 inner_stride,
  const u32 outer_end
) {
  Factor made;
  made.elements = elements;
  made.outer_stride = outer_stride;
  made.inner_stride = inner_stride;
  made.outer_end = outer_end;
  return made;
}

// Copies a tile, in whichever order its elements lie side by side; zeros beyond the ends.
FUNCTION void load_tile(
  SHARED_POINTER float *const tile,
  const Factor from,
  const u32 outer_first,
  const u32 k_first,
  const u32 k_end
) {
  for (u32 n = LOCAL(1) * SIDE + LOCAL(0); n < TILE * DEPTH; n += SIDE * SIDE) {
    const u32 k = from.inner_stride == 1 ? n % DEPTH : n / TILE;
    const u32 outer = from.inner_stride == 1 ? n / DEPTH : n % TILE;
    const u32 o = outer_first + outer;
    const u32 i = k_first + k;
    const u64 place = (u64)o * from.outer_stride + (u64)i * from.inner_stride;
    tile[k * TILE_STRIDE + outer] = o < from.outer_end && i < k_end ? from.elements[place] : 0;
  }
}

// sums[EACH · r + c] is element (row + y + SIDE · r, column + x + SIDE · c) of the product over k_first … k_end − 1.
FUNCTION void multiply(
  float *const sums,
  SHARED_POINTER float *const left_tile,
  SHARED_POINTER float *const right_tile,
  const Factor left,
  const Factor right,
  const u32 row,
  const u32 column,
  const u32 k_first,
  const u32 k_end
) {
#pragma unroll
  for (u32 n = 0; n < EACH * EACH; n++) sums[n] = 0;
  for (u32 first = k_first; first < k_end; first += DEPTH) {
    load_tile(left_tile, left, row, first, k_end);
    load_tile(right_tile, right, column, first, k_end);
    BARRIER();
#pragma unroll
    for (u32 k = 0; k < DEPTH; k++) {
      float a[EACH];
      float b[EACH];
#pragma unroll
      for (u32 n = 0; n < EACH; n++) {
        a[n] = left_tile[k * TILE_STRIDE + LOCAL(1) + SIDE * n];
        b[n] = right_tile[k * TILE_STRIDE + LOCAL(0) + SIDE * n];
      }
#pragma unroll
      for (u32 n = 0; n < EACH * EACH; n++) sums[n] = fma(a[n / EACH], b[n % EACH], sums[n]);
    }
    BARRIER();
  }
}

// A dense layer forward: out[row][unit] = activation(Σ input[row][k] · weights[unit][k] + bias[unit]).
// Groups: tiles of units, tiles of rows.
KERNEL dense(
  POINTER(const float, input),
  POINTER(const float, weights),
  POINTER(const float, bias),
  POINTER(float, out),
  const u32 rows,
  const u32 units,
  const u32 inner,
  const u32 activation
) {
  SHARED float left_tile[TILE_ROOM];
  SHARED float right_tile[TILE_ROOM];
  OPEN(const float, input);
  OPEN(const float, weights);
  OPEN(const float, bias);
  OPEN(float, out);
  const u32 row = GROUP(1) * TILE;
  const u32 column = GROUP(0) * TILE;
  float sums[EACH * EACH];
  multiply(
    sums,
    left_tile,
    right_tile,
    factor(input, inner, 1, rows),
    factor(weights, inner, 1, units),
    row,
    column,
    0,
    inner
  );
#pragma unroll
  for (u32 n = 0; n < EACH * EACH; n++) {
    const u32 i = row + LOCAL(1) + SIDE * (n / EACH);
    const u32 j = column + LOCAL(0) + SIDE * (n % EACH);
    if (i < rows && j < units) out[(u64)i * units + j] = activate(activation, sums[n] + bias[j]);
  }
}

// A dense layer forward whose products are there: out[row][unit] = activation(out[row][unit] + bias[unit]), `count` in all.
KERNEL finish_dense(
  POINTER(float, out),
  POINTER(const float, bias),
  const u32 units,
  const u32 count,
  const u32 activation
) {
  OPEN(float, out);
  OPEN(const float, bias);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i < count) out[i] = activate(activation, out[i] + bias[i % units]);
}

// Part p of a product is the sum over k from p · `slice` on: parts[p][i][j], i below `rows`, j below `columns`.
// Groups: tiles of columns, then of rows; parts.
KERNEL product_parts(
  POINTER(const float, left),
  const u32 left_stride,
  const u32 left_inner,
  POINTER(const float, right),
  const u32 right_stride,
  const u32 right_inner,
  POINTER(float, parts),
  const u32 rows,
  const u32 columns,
  const u32 inner,
  const u32 slice
) {
  SHARED float left_tile[TILE_ROOM];
  SHARED float right_tile[TILE_ROOM];
  OPEN(const float, left);
  OPEN(const float, right);
  OPEN(float, parts);
  const u32 across = (columns + TILE - 1) / TILE;
  const u32 row = GROUP(0) / across * TILE;
  const u32 column = GROUP(0) % across * TILE;
  const u32 first = GROUP(1) * slice;
  float sums[EACH * EACH];
  multiply(
    sums,
    left_tile,
    right_tile,
    factor(left, left_stride, left_inner, rows),
    factor(right, right_stride, right_inner, columns),
    row,
    column,
    first,
    min(inner, first + slice)
  );
#pragma unroll
  for (u32 n = 0; n < EACH * EACH; n++) {
    const u32 i = row + LOCAL(1) + SIDE * (n / EACH);
    const u32 j = column + LOCAL(0) + SIDE * (n % EACH);
    if (i < rows && j < columns) parts[((u64)GROUP(1) * rows + i) * columns + j] = sums[n];
  }
}

// The sum of parts of `length` elements each: out = Σ parts; with `again`, out += Σ parts.
KERNEL sum_parts(
  POINTER(const float, parts),
  POINTER(float, out),
  const u32 length,
  const u32 count,
  const u32 again
) {
  OPEN(const float, parts);
  OPEN(float, out);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i >= length) return;
  float sum = 0;
  for (u32 part = 0; part < count; part++) sum += parts[(u64)part * length + i];
  out[i] = again ? out[i] + sum : sum;
}

// A gradient that comes in parts takes effect.
KERNEL update_by_parts(
  POINTER(const float, parts),
  const u32 length,
  const u32 count,
  UPDATE_PARAMETERS
) {
  OPEN(const float, parts);
  OPEN_UPDATE(u);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i >= length) return;
  float sum = 0;
  for (u32 part = 0; part < count; part++) sum += parts[(u64)part * length + i];
  update(u, i, sum);
}

// The gradient of a dense layer's weights, Σ derivatives[row][unit] · input[row][k] over rows, takes effect on target[unit][k].
// Groups: tiles of units, tiles of k.
KERNEL update_by_product(
  POINTER(const float, derivatives),
  POINTER(const float, input),
  const u32 rows,
  const u32 units,
  const u32 inner,
  UPDATE_PARAMETERS
) {
  SHARED float left_tile[TILE_ROOM];
  SHARED float right_tile[TILE_ROOM];
  OPEN(const float, derivatives);
  OPEN(const float, input);
  OPEN_UPDATE(u);
  const u32 row = GROUP(0) * TILE;
  const u32 column = GROUP(1) * TILE;
  float sums[EACH * EACH];
  multiply(
    sums,
    left_tile,
    right_tile,
    factor(derivatives, 1, units, units),
    factor(input, 1, inner, inner),
    row,
    column,
    0,
    rows
  );
#pragma unroll
  for (u32 n = 0; n < EACH * EACH; n++) {
    const u32 i = row + LOCAL(1) + SIDE * (n / EACH);
    const u32 j = column + LOCAL(0) + SIDE * (n % EACH);
    if (i < units && j < inner) update(u, (u64)i * inner + j, sums[n]);
  }
}

#define SUM_COLUMNS 32
#define SUM_ROWS 8

// The gradient of a bias, Σ derivatives[row][unit] over rows, takes effect on target[unit]. Groups of SUM_COLUMNS × SUM_ROWS.
KERNEL update_by_sums(
  POINTER(const float, derivatives),
  const u32 rows,
  const u32 units,
  UPDATE_PARAMETERS
) {
  SHARED float room[SUM_ROWS * SUM_COLUMNS];
  OPEN(const float, derivatives);
  OPEN_UPDATE(u);
  const u32 unit = GROUP(0) * SUM_COLUMNS + LOCAL(0);
  float sum = 0;
  if (unit < units) {
    for (u32 row = LOCAL(1); row < rows; row += SUM_ROWS) sum += derivatives[(u64)row * units + unit];
  }
  room[LOCAL(1) * SUM_COLUMNS + LOCAL(0)] = sum;
  BARRIER();
  if (LOCAL(1) > 0 || unit >= units) return;
  for (u32 n = 1; n < SUM_ROWS; n++) sum += room[n * SUM_COLUMNS + LOCAL(0)];
  update(u, unit, sum);
}
