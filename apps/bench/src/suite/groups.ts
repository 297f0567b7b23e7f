import type { CellName } from "./plan.js";

/** What belongs together: all of a data set on a platform, in the order of the first of each. */
export function groupsOf<T extends Pick<CellName, "set" | "platform">>(
  items: readonly T[],
): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = JSON.stringify([item.set, item.platform]);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()];
}
