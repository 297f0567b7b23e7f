/** `target = Σ coefficient · source`, summed in float64, term by term, as the plain kernels do. */

/**
 * `terms` entries of 16 bytes at `table`: the coefficient as float64, the source's address as
 * uint32. The target may be one of the sources.
 */
export function blend(target: usize, length: usize, terms: usize, table: usize): void {
  const end = table + (terms << 4);
  const bytes = length << 2;
  const blockedBytes = (length & ~7) << 2;
  let i: usize = 0;
  for (; i < blockedBytes; i += 32) {
    let s0 = f64x2.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    for (let term = table; term < end; term += 16) {
      const coefficient = v128.load64_splat(term);
      const source = <usize>load<u32>(term, 8) + i;
      s0 = f64x2.add(s0, f64x2.mul(coefficient, loadTwo(source)));
      s1 = f64x2.add(s1, f64x2.mul(coefficient, loadTwo(source + 8)));
      s2 = f64x2.add(s2, f64x2.mul(coefficient, loadTwo(source + 16)));
      s3 = f64x2.add(s3, f64x2.mul(coefficient, loadTwo(source + 24)));
    }
    v128.store(target + i, joined(s0, s1));
    v128.store(target + i, joined(s2, s3), 16);
  }
  for (; i < bytes; i += 4) {
    let sum: f64 = 0;
    for (let term = table; term < end; term += 16) {
      sum += load<f64>(term) * <f64>load<f32>(<usize>load<u32>(term, 8) + i);
    }
    store<f32>(target + i, <f32>sum);
  }
}

// @ts-ignore: decorator
@inline
function loadTwo(source: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(source));
}

// @ts-ignore: decorator
@inline
function joined(low: v128, high: v128): v128 {
  return v128.shuffle<f64>(
    f32x4.demote_f64x2_zero(low),
    f32x4.demote_f64x2_zero(high),
    0,
    2,
  );
}
