/**
 * Files that strangers have made or changed, for tests of what reads files. `FUZZ_CASES` is how many of
 * each kind are tried, and `FUZZ_SEED` what they are drawn by: a thousand by seed 1 if it is not set.
 */
import fc from "fast-check";

export const fuzzCases = Number(process.env["FUZZ_CASES"] ?? 1000);

/** Parameters of a property, and the time that it may take in ms. */
export const fuzzParameters = {
  numRuns: fuzzCases,
  seed: Number(process.env["FUZZ_SEED"] ?? 1),
} as const;
export const fuzzTimeout = { timeout: 60_000 + fuzzCases * 300 };

/** Far more than any reader takes of the processor for a small file, whatever it holds. */
const MOST_CPU_MS = 5000;
/** What a reader may allocate beside so many times the file's size. */
const ALLOWANCE_BYTES = 2 ** 24;
const MOST_COPIES = 64;
const LONGEST_MESSAGE = 2000;

const inherited = () => Object.getOwnPropertyNames(Object.prototype).toString();
const everythingInherits = inherited();

/**
 * Reads a hostile file. Returns what it holds, undefined where it is refused as it must be: with an error
 * that `isRefusal` knows, of a message for people, soon, without much memory and without a change to what
 * all objects inherit.
 *
 * @param bytes - the file's size.
 * @param longestMessage - in characters.
 * @throws whatever else becomes of it.
 */
export async function readOrRefuse<T>(
  bytes: number,
  read: () => T | Promise<T>,
  isRefusal: (error: Error) => boolean,
  longestMessage = LONGEST_MESSAGE,
): Promise<T | undefined> {
  const before = process.memoryUsage().arrayBuffers;
  const start = process.cpuUsage();
  let result: T | undefined;
  try {
    result = await read();
  } catch (error) {
    if (!(error instanceof Error) || !isRefusal(error)) throw error;
    if (error.message.length > longestMessage) {
      throw new Error(`a message of ${error.message.length} characters`, { cause: error });
    }
  }
  const { user, system } = process.cpuUsage(start);
  const taken = process.memoryUsage().arrayBuffers - before;
  if ((user + system) / 1000 > MOST_CPU_MS) throw new Error(`it took ${user + system} µs`);
  if (taken > MOST_COPIES * bytes + ALLOWANCE_BYTES) {
    throw new Error(`${taken} bytes were allocated for a file of ${bytes}`);
  }
  if (inherited() !== everythingInherits) throw new Error("all objects inherit something new");
  return result;
}

type Infer<A> = A extends fc.Arbitrary<infer T> ? T : never;

const tokens = '{ } [ ] : , " \\ \n 0 -1 1e9 1e999 4294967296 null __proto__'.split(" ");

/** Changes to bytes: some overwritten, inserted, a piece taken out, doubled, or cut off at the end. */
const byteChange = fc.oneof(
  fc.record({
    kind: fc.constantFrom("overwrite" as const, "insert" as const),
    at: fc.nat(),
    by: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 9 }),
      fc.constantFrom(...tokens).map((text) => new TextEncoder().encode(text)),
    ),
  }),
  fc.record({
    kind: fc.constantFrom("remove" as const, "double" as const, "cut" as const),
    at: fc.nat(),
    size: fc.integer({ min: 1, max: 40 }),
  }),
);

function changed(original: Uint8Array, change: Infer<typeof byteChange>): Uint8Array {
  const at = change.at % Math.max(1, original.length);
  const before = original.subarray(0, at);
  const after = (size: number) => original.subarray(at + size);
  switch (change.kind) {
    case "overwrite":
      return Buffer.concat([before, change.by, after(change.by.length)]);
    case "insert":
      return Buffer.concat([before, change.by, after(0)]);
    case "double":
      return Buffer.concat([before, after(0).subarray(0, change.size), after(0)]);
    case "remove":
      return Buffer.concat([before, after(change.size)]);
    case "cut":
      return before;
  }
}

/** A real file in which one to three places are changed. */
export function changedBytes(original: Uint8Array): fc.Arbitrary<Uint8Array> {
  return fc
    .array(byteChange, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce(changed, original));
}

/** Names that all objects have, and others that lead astray what takes them for a path or an option. */
export const strangeNames = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "../../etc/passwd",
  "/etc/passwd",
  "--out=/tmp",
  "$(id)",
  "\u0000",
  "\u001B[2J",
  "\uD800",
  "x".repeat(5000),
  "",
] as const;

const strangeNumbers = [-1, 0, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, 1e300];
const strangeObjects: readonly unknown[] = [
  [],
  {},
  [[]],
  [null],
  { toString: 1, valueOf: 1 },
  { length: 1e9 },
  null,
];
const strangeValues: readonly unknown[] = [...strangeNames, ...strangeNumbers, ...strangeObjects];
const strangeValue = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...strangeValues));

/** A JSON value that differs from this one in one to three places: other values, members more or fewer. */
export function changedJson(original: unknown): fc.Arbitrary<unknown> {
  const change = fc.record({
    place: fc.nat(),
    kind: fc.constantFrom("replace", "add", "rename", "remove", "double"),
    name: fc.constantFrom(...strangeNames),
    value: strangeValue,
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce<unknown>((document, { place, kind, name, value }) => {
      const places = placesIn(document);
      if (places.length === 0) return kind === "add" ? fromEntries([[name, value]]) : value;
      const [path, key] = places[place % places.length]!;
      return withMember(document, path, (parent) => {
        if (Array.isArray(parent)) {
          const list: unknown[] = parent;
          const at = Number(key);
          const inserted =
            kind === "remove" ? [] : kind === "replace" ? [value] : [list[at], value];
          return list.toSpliced(at, 1, ...inserted);
        }
        const entries = Object.entries(parent);
        return fromEntries(
          entries.flatMap(([each, old]): [string, unknown][] => {
            if (each !== key || kind === "double") return [[each, old]];
            if (kind === "remove") return [];
            if (kind === "rename") return [[name, old]];
            return kind === "replace"
              ? [[each, value]]
              : [
                  [each, old],
                  [name, value],
                ];
          }),
        );
      });
    }, original),
  );
}

type Path = readonly string[];

/** Every member of a JSON value, as the path of what holds it and its own name there. */
function placesIn(value: unknown, path: Path = []): (readonly [Path, string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]): (readonly [Path, string])[] => [
    [path, key],
    ...placesIn(each, [...path, key]),
  ]);
}

function withMember(
  value: unknown,
  [key, ...rest]: Path,
  change: (at: object) => unknown,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (key === undefined) return change(value);
  const entry = ([each, old]: [string, unknown]): [string, unknown] =>
    each === key ? [each, withMember(old, rest, change)] : [each, old];
  if (Array.isArray(value)) return Object.entries(value).map((each) => entry(each)[1]);
  return fromEntries(Object.entries(value).map(entry));
}

/** As `JSON.parse` makes objects: `__proto__` is a member like others. */
const fromEntries = (entries: readonly [string, unknown][]): object =>
  Object.fromEntries(entries) as object;
