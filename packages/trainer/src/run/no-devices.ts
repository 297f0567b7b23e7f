import { TrainerError } from "../errors.js";

/**
 * What ends a run of which all devices were lost, in this order: the first loss, as a rule,
 * explains the others.
 */
export function noDevices(work: string, losses: readonly TrainerError[]): TrainerError {
  const [first, ...others] = losses;
  const also = others.length > 0 ? ` (and ${others.length} more device(s) after it)` : "";
  return new TrainerError(
    "NO_DEVICES",
    `no device is left to ${work} on: ${first?.message ?? "all were lost"}${also}`,
    { cause: first },
  );
}
