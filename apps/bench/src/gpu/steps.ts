/** Whole training steps on devices, beside PyTorch's on the same GPU and those of the processor. */
import {
  gpuContestant,
  processorContestants,
  torchGpuContestants,
  type Contestant,
} from "../step/contestants.js";
import type { ContestantResult, SetResult } from "../step/step-report.js";
import type { StepShape } from "../step/step-data.js";
import { measureSet } from "../step/step.js";
import { median, pairedRatio, spreadOf, type Spread } from "../statistics.js";
import type { BenchDevice } from "./devices.js";

export interface StepsInput {
  readonly devices: readonly BenchDevice[];
  readonly labels: readonly number[];
  readonly rows: number;
  readonly features: number;
  readonly rounds: number;
  /** The interpreter that has PyTorch. */
  readonly python: string;
}

/** As in Amazon-670k. */
const common = { hidden: 128, nonZeros: 76, batches: 8 };
/** What takes longer, in seconds, is left out at the next larger size. */
const SLOWEST = 4;

/**
 * Measures one size after the other, from the smallest on.
 *
 * @throws Error if losses differ; the signal's reason
 */
export async function stepTimes(
  { devices, labels, rows, features, rounds, python }: StepsInput,
  signal: AbortSignal,
  onSet: (set: SetResult) => void,
): Promise<readonly SetResult[]> {
  const sets: SetResult[] = [];
  for (const size of labels.toSorted((a, b) => a - b)) {
    const shape: StepShape = { ...common, features, rows, labels: size };
    const { fit, tooSlow } = split(contestantsOf(devices, python), sets.at(-1), size);
    const set = await measureSet(`${size} labels`, shape, fit, rounds, { signal });
    signal.throwIfAborted();
    const whole = { ...set, missing: [...set.missing, ...tooSlow] };
    onSet(whole);
    sets.push(whole);
  }
  return sets;
}

function contestantsOf(devices: readonly BenchDevice[], python: string): readonly Contestant[] {
  const gpus = devices.filter(({ driver }) => driver === "hardware");
  const [first] = gpus.filter(({ technology }) => technology === "cuda");
  return [
    ...devices.map(({ spec, label, environment }) => gpuContestant(spec, label, environment)),
    ...(first === undefined ? [] : torchGpuContestants(python, `cuda:${first.index}`)),
    // Beside a GPU, the plain kernels would only take its time.
    ...processorContestants().filter(({ name }) => gpus.length === 0 || name !== "plain"),
  ];
}

/** Leaves out whoever would take too long, by what a step of the last size took. */
function split(contestants: readonly Contestant[], last: SetResult | undefined, labels: number) {
  const fit: Contestant[] = [];
  const tooSlow: { name: string; reason: string }[] = [];
  for (const contestant of contestants) {
    const { name } = contestant;
    const before = last?.results.find((one) => one.name === name);
    const leftOut = last?.missing.find((one) => one.name === name);
    const seconds = before === undefined ? 0 : (secondsOf(before) * labels) / last!.shape.labels;
    if (leftOut !== undefined) tooSlow.push(leftOut);
    else if (seconds <= SLOWEST) fit.push(contestant);
    else tooSlow.push({ name, reason: `a step would take ${Math.round(seconds)} s or so` });
  }
  return { fit, tooSlow };
}

function secondsOf({ steps }: ContestantResult): number {
  return median(steps.map(({ wall }) => wall));
}

/** What is told of one contestant. */
export interface StepSummary {
  readonly milliseconds: Spread;
  readonly rowsPerSecond: number;
  /** Of the output layer's three products, which are nearly all of a step's. */
  readonly gigaflops: number;
  /** Of the device's peak; null where that is unknown. */
  readonly peakShare: number | null;
  /** Speed against PyTorch in float32, and the processor's native kernels; null without. */
  readonly timesTorch: number | null;
  readonly timesNative: number | null;
}

export function summariseSteps(
  one: ContestantResult,
  { shape, results }: Pick<SetResult, "shape" | "results">,
  devices: readonly BenchDevice[],
): StepSummary {
  const walls = one.steps.map(({ wall }) => wall);
  const against = (name: string) => {
    const base = results.find((other) => other.name === name && name !== one.name);
    return base === undefined
      ? null
      : pairedRatio(
          base.steps.map(({ wall }) => wall),
          walls,
        );
  };
  const seconds = median(walls);
  const gigaflops = (6 * shape.rows * shape.labels * shape.hidden) / seconds / 1e9;
  const peak = devices.find(({ label }) => label === one.name)?.peaks?.gigaflops ?? null;
  return {
    milliseconds: spreadOf(walls.map((wall) => 1000 * wall)),
    rowsPerSecond: shape.rows / seconds,
    gigaflops,
    peakShare: peak === null ? null : gigaflops / peak,
    timesTorch: against("torch"),
    timesNative: against("native"),
  };
}
