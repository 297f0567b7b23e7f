/** What charts call runs that are held against each other: by what their configurations differ in. */

export type RunConfig = Readonly<Record<string, unknown>>;

/** Where a run lies and what it is a repetition of: these make no other kind of run. */
const aside = new Set(["seed", "out", "force", "resume", "config", "checkpointEvery", "keep"]);

const MOST_MEMBERS = 4;

/**
 * A name for each run; runs that differ in nothing but their seeds have the same.
 *
 * @param runs - with the names of their folders; a configuration that could not be read is null.
 */
export function namesOf(
  runs: readonly { readonly folder: string; readonly config: RunConfig | null }[],
): readonly string[] {
  const configs = runs.flatMap(({ config }) => (config === null ? [] : [config]));
  if (runs.length < 2 || configs.length < runs.length) return unique(runs.map((it) => it.folder));
  const keys = [...new Set(configs.flatMap((config) => Object.keys(config)))];
  const differing = keys.filter((key) => {
    if (aside.has(key)) return false;
    return new Set(configs.map((config) => JSON.stringify(config[key]))).size > 1;
  });
  // An algorithm brings its own defaults with it.
  const told = differing.includes("algorithm")
    ? differing.filter((key) => ["algorithm", "devices", "profile", "kernels"].includes(key))
    : differing;
  if (told.length > MOST_MEMBERS) return unique(runs.map((it) => it.folder));
  const names = configs.map((config) =>
    told.map((key) => memberWords(key, config[key])).join(", "),
  );
  // What was told is not all that differs.
  const kinds = new Set(configs.map((config) => kindOf(config, differing)));
  if (new Set(names).size < kinds.size) return unique(runs.map((it) => it.folder));
  return told.length === 0 ? configs.map((config) => valueWords(config["algorithm"])) : names;
}

function kindOf(config: RunConfig, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => config[key]));
}

function memberWords(key: string, value: unknown): string {
  const isTelling = ["algorithm", "devices", "profile", "kernels"].includes(key);
  return isTelling ? valueWords(value) : `${key} ${valueWords(value)}`;
}

function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "automatic";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Folders of the same name are told apart by a number. */
function unique(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}
