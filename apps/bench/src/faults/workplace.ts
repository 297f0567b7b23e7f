/** Where the runs of `bench faults` lie, and what all of them have in common. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devicesOf, epochsOf, optionsOf } from "./algorithm-runs.js";
import { writeMadeUpData } from "./made-up-data.js";
import { makeReference, type Reference } from "./references.js";

export interface Workplace {
  readonly folder: string;
  /** Ends all processes. */
  readonly signal: AbortSignal;
  /** What `heterosgd train` is told, whether the run begins or goes on. */
  trainArguments(algorithm: string, devices: number, run: string, epochs?: number): string[];
  /** Made when it is first asked for. */
  reference(algorithm: string, devices: number): Promise<Reference>;
  /** A new folder of this name. */
  scenarioFolder(name: string): string;
  remove(): void;
}

export function openWorkplace(seed: number, signal: AbortSignal): Workplace {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-faults-"));
  // Other users' runs read the data.
  chmodSync(folder, 0o711);
  const data = writeMadeUpData(folder, seed);
  const references = new Map<string, Promise<Reference>>();
  const workplace: Workplace = {
    folder,
    signal,
    trainArguments: (algorithm, devices, run, epochs = epochsOf(algorithm)) => [
      data.train,
      ...optionsOf(algorithm),
      `--test=${data.test}`,
      `--epochs=${epochs}`,
      `--devices=${devicesOf(algorithm, devices)}`,
      `--checkpoint-every=3`,
      `--resume=${run}`,
    ],
    reference(algorithm, devices) {
      const key = `${algorithm} ${devices}`;
      const made = references.get(key) ?? makeReference(workplace, algorithm, devices);
      references.set(key, made);
      return made;
    },
    scenarioFolder: (name) =>
      mkdtempSync(join(folder, `${name.replaceAll(/[^a-zA-Z0-9]+/g, "-")}-`)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  return workplace;
}
