/** A driver's library, found where the system or the user has it. */
import { loadKoffi, type ForeignFunction } from "./koffi.js";
import { messageOf, type Lack } from "./lack.js";

export interface DriverLibrary<F> {
  /** What the system calls it; the first that can be loaded is taken. */
  readonly names: readonly string[];
  /** The environment variable that names another one. */
  readonly variable: string;
  /** What helps where there is none. */
  readonly remedy: string;
  readonly functionsOf: (library: { func(definition: string): ForeignFunction }) => F;
}

export type LoadedLibrary<F> = { readonly ok: true; readonly functions: F } | Lack;

/** @returns what loads it, or the library of that name, once a thread. */
export function libraryLoader<F>(driver: DriverLibrary<F>): (library?: string) => LoadedLibrary<F> {
  const loaded = new Map<string, LoadedLibrary<F>>();
  return (library) => {
    const named = library ?? (process.env[driver.variable] || undefined);
    const key = named ?? "";
    const known = loaded.get(key);
    if (known !== undefined) return known;
    const made = load(driver, named);
    loaded.set(key, made);
    return made;
  };
}

function load<F>(
  { names: own, variable, remedy, functionsOf }: DriverLibrary<F>,
  named: string | undefined,
): LoadedLibrary<F> {
  const found = loadKoffi();
  if (!found.ok) return found;
  const names = named === undefined ? own : [named];
  const failures: string[] = [];
  for (const name of names) {
    try {
      return { ok: true, functions: functionsOf(found.koffi.load(name)) };
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  return {
    ok: false,
    reason: `${names.join(" and ")} can't be loaded: ${failures[0]!}`,
    remedy: named === undefined ? remedy : `name another library in ${variable}`,
  };
}
