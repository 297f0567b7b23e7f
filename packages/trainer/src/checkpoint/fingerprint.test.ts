import { expect, test } from "vitest";
import { differences, fingerprintConfiguration, fingerprintOf } from "./fingerprint.js";

test("a buffer's fingerprint is its SHA-256, whatever kind of buffer it is", () => {
  const bytes = new TextEncoder().encode("abc");
  const shared = new SharedArrayBuffer(3);
  new Uint8Array(shared).set(bytes);
  const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(fingerprintOf(shared)).toBe(known);
  expect(fingerprintOf(bytes.buffer)).toBe(known);
  expect(fingerprintOf(new SharedArrayBuffer(2 ** 24 + 1))).not.toBe(
    fingerprintOf(new SharedArrayBuffer(2 ** 24)),
  );
});

test("configurations differ by the members that do, in whatever order they are named", () => {
  const a = fingerprintConfiguration({ epochs: 3, hidden: [64, 32], own: { b: 1, a: null } });
  const b = fingerprintConfiguration({ own: { a: null, b: 1 }, hidden: [64, 32], epochs: 3 });
  expect(differences(a, b)).toEqual([]);
  const c = fingerprintConfiguration({ epochs: 4, hidden: [32, 64], seed: 1, own: undefined });
  expect(differences(a, c)).toEqual(["epochs", "hidden", "own", "seed"]);
  expect(differences({}, fingerprintConfiguration({ constructor: 1 }))).toEqual(["constructor"]);
});
