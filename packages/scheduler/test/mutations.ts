/** What may become of a JSON value in a file that somebody else has had. */
import fc from "fast-check";

type Json = unknown;

const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    -1,
    0,
    1,
    2,
    0.5,
    1e9,
    2 ** 53,
    1e308,
    5e-324,
    Number.NaN,
  ),
  fc.constantFrom<Json>("", "x", "__proto__", "stopped", "working", undefined, Symbol.iterator, 3n),
  fc.constantFrom<Json>([], {}, [[]], [null], { length: 3 }, Object.create(null)),
  fc.constant({ epoch: 0, start: 0, count: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Replaces, removes, adds or repeats something, anywhere in a copy of the value. */
export const change: fc.Arbitrary<(value: Json) => Json> = fc
  .record({
    at: fc.nat(),
    what: fc.constantFrom("replace", "replace", "remove", "add", "repeat"),
    name: fc.constantFrom("__proto__", "constructor", "toString", "extra", "0", "length"),
    by: strange,
  })
  .map(({ at, what, name, by }) => (value) => {
    const root = { value: structuredClone(value) };
    const places = placesIn(root);
    const [holder, key] = places[at % places.length] as Place;
    const target = holder[key];
    if (what === "remove") {
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
    } else if (what === "repeat" && Array.isArray(target)) target.push(...(target as Json[]));
    else if (what === "add" && typeof target === "object" && target !== null) {
      // Assigning it would set the prototype.
      Object.defineProperty(target, Array.isArray(target) ? "extra" : name, {
        value: by,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    } else holder[key] = by;
    return root.value;
  });

type Place = readonly [holder: Record<string, Json>, key: string];

function placesIn(value: object): readonly Place[] {
  const holder = value as Record<string, Json>;
  return Object.entries(holder).flatMap(([key, inner]): readonly Place[] => [
    [holder, key],
    ...(typeof inner === "object" && inner !== null ? placesIn(inner) : []),
  ]);
}
