/** One that is measured, with what it must agree with the others on. */
export interface Comparable {
  readonly name: string;
  readonly bf16: boolean;
  readonly run: () => void | Promise<void>;
  readonly losses?: Float32Array;
  readonly dHidden?: Float32Array;
}

/** Largest difference, as a share of the largest figure. */
const TOLERANCE = 1e-3;
const BF16_TOLERANCE = 3e-2;

/**
 * Runs each once and compares what they computed with the first one's: speed counts only for the
 * same work. What computes nothing to compare is left alone.
 *
 * @throws Error that names the one that is wrong.
 */
export async function requireAgreement(
  title: string,
  entrants: readonly Comparable[],
): Promise<void> {
  let first: { readonly name: string; readonly figures: readonly Float32Array[] } | null = null;
  for (const { name, bf16, run, losses, dHidden } of entrants) {
    if (losses === undefined || dHidden === undefined) continue;
    // Two may share the arrays: one that wrote nothing would be found to agree.
    losses.fill(Number.NaN);
    dHidden.fill(Number.NaN);
    await run();
    const figures = [losses, dHidden];
    if (first === null) first = { name, figures: figures.map((array) => array.slice()) };
    else {
      const worst = Math.max(...figures.map((array, i) => difference(array, first!.figures[i]!)));
      if (!(worst <= (bf16 ? BF16_TOLERANCE : TOLERANCE))) {
        throw new Error(
          `${title}: ${name} and ${first.name} differ by ${worst.toExponential(1)} of the largest figure`,
        );
      }
    }
  }
}

/** Largest difference as a share of the largest expected figure; NaN if either has one. */
export function difference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let largest = 0;
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    largest = Math.max(largest, Math.abs(expected[i]!));
    worst = Math.max(worst, Math.abs(actual[i]! - expected[i]!));
  }
  return worst === 0 ? 0 : worst / largest;
}
