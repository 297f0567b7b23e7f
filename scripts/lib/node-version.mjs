// @ts-check
// Loaded before anything else, so it uses nothing that an old Node does not have.
import { readFileSync } from "node:fs";

/**
 * Says why a Node version is too old, or returns `undefined` if it will do.
 *
 * @param {string} running the version at hand, such as `process.versions.node`
 * @param {string} range a lower bound as in `engines.node`: `>=20.19`
 * @returns {string | undefined}
 */
export function whyTooOld(running, range) {
  const wanted = range.replace(">=", "").split(".").map(Number);
  const found = running.split(".").map(Number);
  for (let part = 0; part < wanted.length; part++) {
    const difference = (found[part] || 0) - (wanted[part] || 0);
    if (difference > 0) return undefined;
    if (difference < 0) {
      return `Node ${running} is too old: this needs Node ${wanted.join(".")} or newer.`;
    }
  }
  return undefined;
}

/** Ends the process with one line if Node is older than the root package.json allows. */
export function requireNode() {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const reason = whyTooOld(process.versions.node, JSON.parse(manifest).engines.node);
  if (reason === undefined) return;
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
