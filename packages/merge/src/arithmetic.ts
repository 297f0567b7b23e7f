/**
 * The arithmetic of merging over flat arrays. All sums are taken in float64, in the order of the
 * terms, and rounded to float32 once an element, so a range computed in slices, by whomever,
 * equals the whole to the last bit.
 */

/**
 * `target ← Σ coefficients[k] · sources[k]` for the elements `start … end − 1`; no sources zero
 * them.
 *
 * The target may be one of the sources (but not a shifted view of one). A coefficient of 0 is no
 * exception: `0 · NaN` is NaN, so a diverged source shows; leave a source out to ignore it.
 * One pass over memory for any number of sources; the first four are unrolled.
 *
 * @throws RangeError if the counts differ or an array ends before `end`.
 */
export function weightedSum(
  target: Float32Array,
  sources: readonly Float32Array[],
  coefficients: readonly number[],
  start = 0,
  end = target.length,
): void {
  if (coefficients.length !== sources.length) {
    throw new RangeError(
      `weightedSum got ${sources.length} sources and ${coefficients.length} coefficients; give one for each.`,
    );
  }
  requireRange("target", target, start, end);
  for (const source of sources) requireRange("source", source, start, end);
  const [a, b, c, d] = sources;
  const [p = 0, q = 0, r = 0, s = 0] = coefficients;
  if (a === undefined) {
    target.fill(0, start, end);
  } else if (b === undefined) {
    for (let i = start; i < end; i++) target[i] = p * a[i]!;
  } else if (c === undefined) {
    for (let i = start; i < end; i++) target[i] = p * a[i]! + q * b[i]!;
  } else if (d === undefined) {
    for (let i = start; i < end; i++) target[i] = p * a[i]! + q * b[i]! + r * c[i]!;
  } else if (sources.length === 4) {
    for (let i = start; i < end; i++) target[i] = p * a[i]! + q * b[i]! + r * c[i]! + s * d[i]!;
  } else {
    for (let i = start; i < end; i++) {
      let sum = p * a[i]! + q * b[i]! + r * c[i]! + s * d[i]!;
      for (let k = 4; k < sources.length; k++) sum += coefficients[k]! * sources[k]![i]!;
      target[i] = sum;
    }
  }
}

/** ‖values‖₂ in float64. Four partial sums: faster than one chain, and always the same four. */
export function l2Norm(values: Float32Array): number {
  const square = (index: number) => values[index]! * values[index]!;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < values.length; i += 4) {
    a += square(i);
    b += square(i + 1);
    c += square(i + 2);
    d += square(i + 3);
  }
  for (; i < values.length; i++) a += square(i);
  return Math.sqrt(a + b + (c + d));
}

/** Elements `start … end − 1` of a flat array. */
export interface Slice {
  readonly start: number;
  readonly end: number;
}

/**
 * Share number `index` of `count` when `length` elements are divided as evenly as borders at
 * multiples of `align` allow. The shares cover everything once; some may be empty.
 *
 * @param align - In elements; 16 float32 are a cache line, so no two writers share one.
 * @throws RangeError if `index` is not below `count`.
 */
export function sliceFor(index: number, count: number, length: number, align = 16): Slice {
  if (!(Number.isInteger(index) && index >= 0 && index < count)) {
    throw new RangeError(`Slice ${index} of ${count} does not exist; count from 0.`);
  }
  const blocks = Math.ceil(length / align);
  const border = (part: number) => Math.min(length, Math.floor((blocks * part) / count) * align);
  return { start: border(index), end: border(index + 1) };
}

function requireRange(name: string, array: Float32Array, start: number, end: number): void {
  if (start >= 0 && start <= end && end <= array.length) return;
  throw new RangeError(
    `The range ${start} to ${end} lies outside a ${name} of ${array.length} elements.`,
  );
}
