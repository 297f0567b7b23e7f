/** Text in drawings, whose width is guessed: nothing measures it under Node. */

export const FONT_SIZE = 12;

/** By name besides, for programs that know no system's own. */
export const FONTS =
  "system-ui, 'DejaVu Sans', 'Liberation Sans', Arial, Helvetica, 'Noto Sans', sans-serif";

const LONGEST = 34;

/** Pixels that a text takes, rather too many than too few. */
export function textWidth(text: string): number {
  return 0.58 * FONT_SIZE * Array.from(text).length;
}

/** A name that fits beside a chart: the middle of a long one is left out, since its ends tell it from others. */
export function shorten(text: string, most = LONGEST): string {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

/**
 * Moves labels apart that would lie on one another, as little as it takes from above to below, and none beyond the end.
 *
 * @param wanted - places in pixels, in any order.
 * @returns the places, in the same order.
 */
export function apart(wanted: readonly number[], gap: number, end: number): readonly number[] {
  const order = wanted.map((_, i) => i).toSorted((a, b) => wanted[a]! - wanted[b]!);
  const places = [...wanted];
  let least = -Infinity;
  for (const i of order) {
    places[i] = Math.max(places[i]!, least);
    least = places[i] + gap;
  }
  let most = end;
  for (const i of order.toReversed()) {
    places[i] = Math.min(places[i]!, most);
    most = places[i] - gap;
  }
  return places;
}
