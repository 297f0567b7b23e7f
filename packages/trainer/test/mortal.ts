import { writeFileSync } from "node:fs";
import { buildWorker } from "./build-worker.js";
import type { DeviceApi } from "../src/device/api.js";

/** When and how devices of a run go wrong. */
export interface Fate {
  readonly devices: readonly number[];
  readonly method: keyof DeviceApi;
  /** Which call of the method, counting from 1. */
  readonly call: number;
  /** The last three go on living: they block, answer with what can't be, or report a loss of NaN. */
  readonly end: "exit before" | "exit after" | "throw" | "hang" | "nonsense" | "wrong size" | "NaN";
}

const worker = await buildWorker("mortal.worker");

/** A worker whose devices meet these fates. */
export function mortalWorker(...fates: readonly Fate[]): URL {
  return workerOf({ fates, opaque: [] });
}

/** The same, of which these devices have their arrays to themselves. */
export function opaqueWorker(opaque: readonly number[] | "all", ...fates: readonly Fate[]): URL {
  return workerOf({ fates, opaque });
}

/** What `mortal.worker` finds in `globalThis`. */
export interface Destiny {
  readonly fates: readonly Fate[];
  readonly opaque: readonly number[] | "all";
}

function workerOf(destiny: Destiny): URL {
  const { fates, opaque } = destiny;
  const words = fates.flatMap((fate) => Object.values(fate).flat());
  const name = [...words, "opaque", opaque].flat().join("-");
  const url = new URL(`./${name.replaceAll(" ", "-")}.mjs`, worker);
  writeFileSync(
    url,
    `Object.assign(globalThis, ${JSON.stringify(destiny)});\nawait import("${worker.href}");\n`,
  );
  return url;
}
