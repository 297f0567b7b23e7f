import { operations, type Operation } from "./cases.js";

/** What `--only` asks for. */
export interface Selection {
  readonly operations: readonly Operation[];
  /** Whether the implementation of this name is measured. */
  readonly includes: (implementation: string) => boolean;
}

/**
 * Reads names of operations and of implementations. Those of one kind alone leave the other kind
 * whole.
 *
 * @throws Error for a name that is neither.
 */
export function parseSelection(
  names: readonly string[] | undefined,
  implementations: readonly string[],
): Selection {
  const wanted = names ?? [];
  const unknown = wanted.find(
    (name) => !implementations.includes(name) && !operations.some((known) => known === name),
  );
  if (unknown !== undefined) {
    throw new Error(
      `there is no "${unknown}"; operations are ${operations.join(", ")}, implementations ${implementations.join(", ")}`,
    );
  }
  const chosen = operations.filter((name) => wanted.includes(name));
  const picked = wanted.filter((name) => implementations.includes(name));
  return {
    operations: chosen.length === 0 ? operations : chosen,
    includes: (name) => picked.length === 0 || picked.includes(name),
  };
}
