/** The middle value, or the mean of the two in the middle. @throws RangeError for no values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("the median of no values");
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
