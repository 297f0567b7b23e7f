/** One observation: `target` should be Σ coefficient · `values`. */
export interface Observation {
  readonly values: readonly number[];
  readonly target: number;
}

/**
 * Coefficients of at least 0 with the least sum of squared relative errors, for up to a handful of
 * columns: of every choice of columns the unbounded fit, if it is of positive numbers.
 */
export function nonNegativeFit(observations: readonly Observation[]): readonly number[] {
  const columns = observations[0]?.values.length ?? 0;
  const weighed = observations
    .filter(({ target }) => target > 0)
    .map(({ values, target }) => values.map((value) => value / target));
  let best: readonly number[] = Array.from({ length: columns }, () => 0);
  let least = weighed.length;
  for (let chosen = 1; chosen < 1 << columns; chosen++) {
    const used = [...best.keys()].filter((column) => (chosen >> column) & 1);
    const solution = solve(weighed, used);
    if (solution === null || solution.some((value) => value < 0)) continue;
    const fit = best.map((_, column) => solution[used.indexOf(column)] ?? 0);
    const error = weighed.reduce((sum, row) => {
      const predicted = row.reduce((total, value, column) => total + value * fit[column]!, 0);
      return sum + (predicted - 1) ** 2;
    }, 0);
    // Of fits that are as good, the one with fewer columns, which came first.
    if (error < least * (1 - 1e-9)) [best, least] = [fit, error];
  }
  return best;
}

/** The unbounded fit of ones by these columns, null where they depend on each other. */
function solve(
  rows: readonly (readonly number[])[],
  used: readonly number[],
): readonly number[] | null {
  // Columns differ by orders of magnitude; each is taken by its own length.
  const lengths = used.map((column) => Math.hypot(...rows.map((row) => row[column]!)));
  if (lengths.some((length) => length === 0)) return null;
  const unit = (row: readonly number[], i: number) => row[used[i]!]! / lengths[i]!;
  const sum = (of: (row: readonly number[]) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  const matrix = used.map((_, i) => [
    ...used.map((__, j) => sum((row) => unit(row, i) * unit(row, j))),
    sum((row) => unit(row, i)),
  ]);
  for (let i = 0; i < used.length; i++) {
    const pivot = matrix[i]![i]!;
    if (Math.abs(pivot) < 1e-10) return null;
    for (let j = 0; j < used.length; j++) {
      if (j === i) continue;
      const factor = matrix[j]![i]! / pivot;
      for (let k = i; k <= used.length; k++) matrix[j]![k]! -= factor * matrix[i]![k]!;
    }
  }
  return matrix.map((row, i) => row[used.length]! / row[i]! / lengths[i]!);
}
