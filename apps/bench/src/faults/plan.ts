/** Which faults are injected. */
import { fillPermutation } from "@heterosgd/sparse";
import { algorithmNames } from "./algorithm-runs.js";
import { SuiteError } from "../suite/suite-error.js";
import { deviceEnds, diskFaults, parts, phases, type Part, type Scenario } from "./scenario.js";

export interface PlanOptions {
  /** Algorithms, parts and kinds of faults; all if it is left out. */
  readonly only?: readonly string[];
  /** One fault of each part for each algorithm, of a kind in turn. */
  readonly quick?: boolean;
  readonly seed: number;
}

const kindsOf = { devices: deviceEnds, kills: phases, disks: diskFaults } as const;

/** How often each algorithm is killed in each phase: on how many devices, and on how many it goes on. */
const killed = [
  { devices: 1 },
  { devices: 2 },
  { devices: 2, resumeOn: 1 },
] as const satisfies readonly Pick<Scenario, "devices" | "resumeOn">[];

/** @throws SuiteError if `only` names what there is not. */
export function planScenarios({
  only = [],
  quick = false,
  seed,
}: PlanOptions): readonly Scenario[] {
  const kinds: readonly string[] = parts.flatMap((part) => [...kindsOf[part]]);
  const known: readonly string[] = [...parts, ...kinds, ...algorithmNames];
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new SuiteError(`--only: ${unknown} is none of ${known.join(", ")}`);
  }
  const chosen = (names: readonly string[]) => {
    const named = names.filter((name) => only.includes(name));
    return named.length === 0 ? names : named;
  };
  // Of a kind that is named, the part need not be.
  const isWanted = (part: Part) => {
    const wanted = [...kinds, ...parts].filter((name) => only.includes(name));
    return (
      wanted.length === 0 ||
      wanted.includes(part) ||
      kindsOf[part].some((kind) => only.includes(kind))
    );
  };
  const all = parts
    .filter(isWanted)
    .flatMap((part) =>
      chosen(algorithmNames).map((algorithm) =>
        chosen(kindsOf[part]).flatMap((kind) => scenariosOf(part, kind, algorithm, seed)),
      ),
    );
  if (quick) return all.map((one, i) => one[(i * 5) % one.length]!);
  // In any order: whoever stops it before the end has seen some of everything.
  return shuffled(all.flat(), seed);
}

function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const order = new Uint32Array(items.length);
  fillPermutation(order, seed, 0);
  return Array.from(order, (i) => items[i]!);
}

function scenariosOf(part: Part, kind: string, algorithm: string, seed: number): Scenario[] {
  const scenario = { part, kind, algorithm };
  if (part === "disks") return [{ ...scenario, devices: 2, seed }];
  if (part === "kills") return killed.map((on, i) => ({ ...scenario, ...on, seed: seed + i }));
  return [1, 2, 3].map((devices) => ({ ...scenario, devices, seed }));
}
