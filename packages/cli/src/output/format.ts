/** Numbers as people read them. */

/** `1234567` as `1,234,567`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `1 row`, `1,234 rows`. */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${formatCount(value)} ${value === 1 ? thing : things}`;
}

/** Text of others on one line, control characters escaped: no name may command a terminal. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Bytes with three digits and a unit, such as `1.43 GiB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : threeDigits(value)} ${units[unit]}`;
}

/** A positive number with about three digits: `0.0123`, `1.23`, `123`, `12,345`. */
export function threeDigits(value: number): string {
  if (value >= 100) return formatCount(value);
  if (value >= 10) return value.toFixed(1);
  return value >= 1 || value === 0 ? value.toFixed(2) : value.toPrecision(3);
}

/** A share from 0 to 1 as `12.3 %`. */
export function formatShare(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

/** Seconds as `12.5 ms`, `0.4 s`, `12 s`, `3m05s`, `2h07m`, `3d04h`. */
export function formatSeconds(seconds: number): string {
  if (seconds > 0 && seconds < 0.05) return `${(seconds * 1000).toPrecision(3)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}m${pad(whole % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? `${hours}h${pad(minutes % 60)}m`
    : `${Math.floor(hours / 24)}d${pad(hours % 24)}h`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

const SECONDS_OF_UNIT: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
};

/** A duration such as `90s`, `10m` or `1h30m` in seconds; a number is seconds already. */
export function parseDuration(duration: string | number): number {
  if (typeof duration === "number") return duration;
  let seconds = 0;
  for (const [, amount, unit] of duration.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    seconds += Number(amount) * (SECONDS_OF_UNIT[unit ?? ""] ?? 0);
  }
  return seconds;
}
