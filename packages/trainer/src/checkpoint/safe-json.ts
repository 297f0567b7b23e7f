import { TrainerError } from "../errors.js";

const MOST_DEPTH = 64;
/** Names through which code that copies objects could be led to change what all objects inherit. */
const INHERITED = new Set(["__proto__", "constructor", "prototype"]);

/**
 * The value of a JSON text from a file that anybody may have written: nested to a small depth, without
 * names that objects inherit.
 *
 * @param name - what messages call the text.
 * @throws TrainerError CHECKPOINT_FORMAT
 */
export function parseSafeJson(bytes: Uint8Array, name: string): unknown {
  const value = parse(bytes, name);
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) throw fail(name, `is nested deeper than ${MOST_DEPTH} levels`);
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== "object" || each === null) continue;
      if (!Array.isArray(each)) {
        const inherited = Object.keys(each).find((key) => INHERITED.has(key));
        if (inherited !== undefined) throw fail(name, `has a member named ${inherited}`);
      }
      for (const child of Object.values(each)) next.push(child);
    }
    level = next;
  }
  return value;
}

function parse(bytes: Uint8Array, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw fail(name, "is not JSON in UTF-8", error);
  }
}

function fail(name: string, what: string, cause?: unknown): TrainerError {
  return new TrainerError("CHECKPOINT_FORMAT", `${name} ${what}`, { cause });
}
