// Lies directly in src, so that package.json is where it is from the bundle in dist too.
import { readFileSync } from "node:fs";

/** The version of this package. */
export function packageVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
