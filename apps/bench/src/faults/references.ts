/** Runs without faults, which others are held against. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { epochsOf } from "./algorithm-runs.js";
import { readFinished, sameModel } from "./checks.js";
import { watchedPhases } from "./scenario.js";
import type { Workplace } from "./workplace.js";
import { preloading, runTrain, takeMark } from "./train-process.js";

export interface Reference {
  readonly parameters: Float32Array;
  /** Whether a second run has come to the same model, to the last bit. */
  readonly repeats: boolean;
  /** P@1 at the end, of each run. */
  readonly precisions: readonly number[];
  /** Time of the process, of the faster one. */
  readonly seconds: number;
  /** How often, and how long in all, a run is in each phase. */
  readonly phases: Readonly<Record<string, PhaseTimes>>;
}

export interface PhaseTimes {
  readonly entered: number;
  readonly ms: number;
}

/** Two runs of the algorithm on so many devices. */
export async function makeReference(
  workplace: Workplace,
  algorithm: string,
  devices: number,
): Promise<Reference> {
  const { folder, signal } = workplace;
  const own = join(folder, `reference-${algorithm}-${devices}`);
  mkdirSync(own);
  const runs = [];
  for (const name of ["first", "second"]) {
    const run = join(own, name);
    const mark = join(own, "mark.json");
    const args = workplace.trainArguments(algorithm, devices, run);
    const environment = preloading("kill-process", { phases: watchedPhases, phase: null, mark });
    const { code, stderr, seconds } = await runTrain(args, { folder: own, environment, signal });
    if (code !== 0)
      throw new Error(`heterosgd train ${args.join(" ")} failed (${code}): ${stderr}`);
    const { phases } = takeMark(mark) as { readonly phases: Reference["phases"] };
    const finished = await readFinished(run, epochsOf(algorithm));
    const { lost, doubled } = finished;
    if (lost + doubled > 0) {
      throw new Error(`without any fault ${algorithm} lost ${lost} rows and doubled ${doubled}`);
    }
    runs.push({ ...finished, seconds, phases });
  }
  const [first, second] = runs;
  return {
    parameters: first!.parameters,
    repeats: sameModel(first!.parameters, second!.parameters),
    precisions: runs.map(({ precision }) => precision),
    seconds: Math.min(first!.seconds, second!.seconds),
    phases: first!.phases,
  };
}
