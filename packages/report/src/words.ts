/** Numbers and times as people read them. */

/** `1234567` as `1,234,567`. */
export function countWords(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** About three digits: `0.0123`, `1.23`, `123`, `12,345`. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 100) return countWords(value);
  if (size >= 10) return value.toFixed(1);
  return size >= 1 || size === 0 ? value.toFixed(2) : value.toPrecision(3);
}

/** `12.3 %` of a share from 0 to 1. */
export function shareWords(share: number): string {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–";
}

/** `12.3 ms`, `4.56 s`, `3 min 5 s`, `2 h 7 min`. */
export function secondsWords(seconds: number): string {
  if (!Number.isFinite(seconds)) return "never";
  if (seconds > 0 && seconds < 1) return `${threeDigits(1000 * seconds)} ms`;
  if (seconds < 60) return `${threeDigits(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${countWords(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** A unit that suits times up to so many seconds, and how many seconds it has. */
export function timeUnit(most: number): { readonly unit: string; readonly seconds: number } {
  if (most < 1) return { unit: "ms", seconds: 0.001 };
  if (most < 300) return { unit: "s", seconds: 1 };
  return most < 3 * 3600 ? { unit: "min", seconds: 60 } : { unit: "h", seconds: 3600 };
}
