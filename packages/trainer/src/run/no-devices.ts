import { TrainerError } from "../errors.js";

/**
 * What ends a run that has lost its devices, in this order: the first loss, as a rule, explains the
 * others.
 *
 * @param left - how many there still are, of how many it needs.
 */
export function noDevices(
  work: string,
  losses: readonly TrainerError[],
  left = { devices: 0, needed: 1 },
): TrainerError {
  const [first, ...others] = losses;
  const also = others.length > 0 ? ` (and ${others.length} more device(s) after it)` : "";
  return new TrainerError(
    "NO_DEVICES",
    `${leftWords(left)} left to ${work} on: ${first?.message ?? "all were lost"}${also}`,
    { cause: first },
  );
}

function leftWords({
  devices,
  needed,
}: {
  readonly devices: number;
  readonly needed: number;
}): string {
  if (devices === 0) return "no device is";
  return `of at least ${needed} devices only ${devices} ${devices === 1 ? "is" : "are"}`;
}
