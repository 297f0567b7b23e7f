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
  const name = fates.flatMap((fate) => Object.values(fate).flat()).join("-");
  const url = new URL(`./${name.replaceAll(" ", "-")}.mjs`, worker);
  writeFileSync(
    url,
    `globalThis.fates = ${JSON.stringify(fates)};\nawait import("${worker.href}");\n`,
  );
  return url;
}
