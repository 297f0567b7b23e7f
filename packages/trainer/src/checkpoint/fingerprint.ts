import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const CHUNK_BYTES = 2 ** 24;
const SUM_CHUNK_BYTES = 2 ** 20;

/** SHA-256 of a data set's buffer or of any bytes, in hexadecimal: about a second for a gigabyte. */
export function fingerprintOf(buffer: ArrayBufferLike): string {
  const hash = createHash("sha256");
  for (let from = 0; from < buffer.byteLength; from += CHUNK_BYTES) {
    const size = Math.min(CHUNK_BYTES, buffer.byteLength - from);
    hash.update(new Uint8Array(buffer, from, size));
  }
  return hash.digest("hex");
}

/**
 * A fingerprint of each member of a configuration, so that two can be compared by name without either
 * being kept. Members that are `undefined` are left out; the order of names means nothing.
 *
 * @param configuration - JSON values by name.
 */
export function fingerprintConfiguration(
  configuration: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(configuration).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const text = JSON.stringify(sorted(value));
      return [name, createHash("sha256").update(text).digest("hex")];
    }),
  );
}

/** Names of members that are in only one of two configurations, or differ, in alphabetical order. */
export function differences(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): readonly string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const own = (from: Readonly<Record<string, string>>, name: string) =>
    Object.hasOwn(from, name) ? from[name] : undefined;
  return [...names].filter((name) => own(a, name) !== own(b, name)).toSorted();
}

/** The same JSON value with the members of each object in alphabetical order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}

/** SHA-256 and size of a file. @throws the system's error */
export async function sumOfFile(
  path: string,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const chunk = new Uint8Array(Math.max(1, Math.min(SUM_CHUNK_BYTES, size)));
    for (let bytes = 0; ;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, bytes);
      if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
      hash.update(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}
