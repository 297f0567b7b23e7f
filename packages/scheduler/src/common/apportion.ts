import { sum } from "./numbers.js";

/** Somebody's claim to a part of something: in proportion to `weight`, within whole bounds. */
export interface Claim {
  /** Above 0. */
  readonly weight: number;
  readonly least: number;
  readonly most: number;
}

/**
 * Splits `total` into whole parts in proportion to the weights, as far as the bounds allow: whoever
 * would get less than its least or more than its most gets that, and the others share the rest. The
 * parts sum to `total` if the bounds let them.
 */
export function apportion(total: number, claims: readonly Claim[]): readonly number[] {
  const exact = proportional(total, claims);
  const parts = exact.map((part) => Math.floor(part));
  // Largest remainders first; of equal ones the first.
  const order = [...parts.keys()].toSorted(
    (a, b) => remainder(exact, parts, b) - remainder(exact, parts, a) || a - b,
  );
  let rest = total - sum(parts, (part) => part);
  for (const i of order) {
    const part = parts[i] ?? 0;
    if (rest < 1 || part + 1 > (claims[i]?.most ?? 0)) continue;
    parts[i] = part + 1;
    rest--;
  }
  return parts;
}

function remainder(exact: readonly number[], parts: readonly number[], i: number): number {
  return (exact[i] ?? 0) - (parts[i] ?? 0);
}

/** The parts before rounding: each pass settles those whose bounds pull hardest. */
function proportional(total: number, claims: readonly Claim[]): readonly number[] {
  const settled = new Map<number, number>();
  while (settled.size < claims.length) {
    const open = [...claims.entries()].filter(([i]) => !settled.has(i));
    const rest = total - sum([...settled.values()], (part) => part);
    const weights = sum(open, ([, { weight }]) => weight);
    const wanted = open.map(([i, { weight, least, most }]) => {
      const part = (rest * weight) / weights;
      const bounded = Math.min(most, Math.max(least, part));
      return { i, bounded, pull: bounded - part };
    });
    const direction = Math.sign(sum(wanted, ({ pull }) => pull));
    for (const { i, bounded, pull } of wanted) {
      if (direction === 0 || Math.sign(pull) === direction) settled.set(i, bounded);
    }
  }
  return [...claims.keys()].map((i) => settled.get(i) ?? 0);
}
