import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";
import type { CallFrame } from "./cpu-profile.js";

/**
 * Finds the source file that a call frame of a built program comes from, by the map beside it. What
 * has none keeps its own address.
 */
export function createSourceFinder(): (frame: CallFrame) => string {
  const maps = new Map<string, SourceMap | null>();
  const mapOf = (url: string): SourceMap | null => {
    let map = maps.get(url);
    if (map === undefined) maps.set(url, (map = load(url)));
    return map;
  };
  return ({ url, lineNumber, columnNumber }) => {
    const entry = mapOf(url)?.findEntry(lineNumber, columnNumber);
    return entry !== undefined && "originalSource" in entry ? entry.originalSource : url;
  };
}

function load(url: string): SourceMap | null {
  if (!url.startsWith("file:")) return null;
  try {
    const text = readFileSync(`${fileURLToPath(url)}.map`, "utf8");
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    // Hand-written files have no map.
    return null;
  }
}
