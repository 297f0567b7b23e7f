/** A run, or several that go on from one another, of which something fails. */
export interface Scenario {
  readonly part: Part;
  /** How a device or a disk fails, or in which phase the process is killed. */
  readonly kind: string;
  readonly algorithm: string;
  readonly devices: number;
  /** On how many devices the run goes on; left out: on the same. */
  readonly resumeOn?: number;
  /** Decides where it strikes. */
  readonly seed: number;
}

export const parts = ["devices", "kills", "disks"] as const;
export type Part = (typeof parts)[number];

/** How devices fail. */
export const deviceEnds = [
  "throw",
  "exit before",
  "exit after",
  "hang",
  "nonsense",
  "wrong size",
  "NaN",
] as const;

/** Phases of a process that `hooks/kill-process.mjs` tells apart. */
export const watchedPhases = [
  "loading",
  "opening",
  "resuming",
  "training",
  "merging",
  "evaluating",
  "writing",
  "finishing",
] as const;

/** Phases in which processes are killed; `anywhere`: by the clock alone, with nothing preloaded. */
export const phases = [...watchedPhases, "anywhere"] as const;

export const diskFaults = ["full", "read-only"] as const;

/** What came of a scenario. */
export interface Outcome {
  /** Faults that struck. */
  readonly injected: number;
  /** Of those the ones after which all went on as it should. */
  readonly survived: number;
  readonly lost: number;
  readonly doubled: number;
  /**
   * Whether the model is to the last bit that of a run without faults; null where that is not to be
   * expected.
   */
  readonly repeats: boolean | null;
  /** Where it struck. */
  readonly struck: string;
  /** What was not as it should be. */
  readonly problems: readonly string[];
  /** Why it, or the last of its faults, was not injected; else null. */
  readonly skipped: string | null;
}

export function skippedOutcome(reason: string): Outcome {
  const nothing = { injected: 0, survived: 0, lost: 0, doubled: 0, repeats: null };
  return { ...nothing, struck: "", problems: [], skipped: reason };
}

/** Faults struck, and this is how the run turned out. */
export function outcomeOf(
  injected: number,
  struck: string,
  {
    lost,
    doubled,
    repeats,
    problems,
    skipped = null,
  }: Pick<Outcome, "lost" | "doubled" | "repeats" | "problems"> & Partial<Pick<Outcome, "skipped">>,
): Outcome {
  const isWell = problems.length === 0 && lost === 0 && doubled === 0 && repeats !== false;
  const survived = isWell ? injected : injected - 1;
  return { injected, survived, lost, doubled, repeats, struck, problems, skipped };
}
