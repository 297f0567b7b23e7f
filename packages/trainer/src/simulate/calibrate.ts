/** A profile of the machine that this runs on, measured with all of its devices at work at once. */
import { uniformMerge } from "@heterosgd/merge";
import { adaptiveSgd, countRows, type DeviceId, type DoneEvent } from "@heterosgd/scheduler";
import { allocateShared, selectRows, type Dataset } from "@heterosgd/sparse";
import { parameterLayout, optimizerStateArrays } from "@heterosgd/model";
import { formatDevice } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import type { RunEvent } from "../run/run-event.js";
import { train, type TrainOptions } from "../run/train.js";
import { nonNegativeFit, type Observation } from "./least-squares.js";
import type { Profile } from "./profile.js";
import { simulate } from "./simulate.js";

export interface CalibrateOptions extends Pick<
  TrainOptions,
  "train" | "shape" | "rule" | "devices" | "kernels" | "bf16" | "workerUrl"
> {
  readonly name: string;
  /** Real seconds for each size of batch, four times. Default 0.4. */
  readonly seconds?: number;
  /** Sizes of batches that are tried. Default 4, 16, 64, 256. */
  readonly batches?: readonly number[];
}

/** What a device did between two merges. */
interface Stretch {
  readonly device: DeviceId;
  readonly seconds: number;
  readonly batches: number;
  readonly rows: number;
  readonly nonZeros: number;
}

interface Measured {
  readonly stretches: readonly Stretch[];
  /** Seconds from the last batch of all to the merge's end. */
  readonly merges: readonly number[];
  /** Spread of batches' times: half of what lies between the 10th and the 90th percentile, of the median. */
  readonly spreads: readonly (readonly [DeviceId, number])[];
}

/**
 * Batches between two merges, each device's. Were it always as many, what a batch takes could not be told
 * from what a merge takes.
 */
const STRETCHES = [4, 24];

/**
 * Trains on the lighter and on the heavier half of the rows, in batches of several sizes, and fits
 * what batches, rows and non-zeros take to the times between merges; so waiting for messages is in
 * them as well.
 *
 * @throws TrainerError DATA_MISMATCH if that was too little to tell by; else as `train` does.
 */
export async function calibrate(options: CalibrateOptions): Promise<Profile> {
  const { train: rows, shape, rule, devices, batches: sizes = [4, 16, 64, 256] } = options;
  const measured: Measured[] = [];
  for (const half of halves(rows)) {
    for (const batch of sizes.filter((size) => size <= half.rows)) {
      for (const batches of STRETCHES) measured.push(await measure(options, half, batch, batches));
    }
  }
  const fits = devices.map((_, id) => {
    const observations = measured.flatMap(({ stretches }): Observation[] => {
      const own = stretches.filter(({ device }) => device === id);
      if (own.length === 0) return [];
      // Relative errors of single ones would make the quick count for more than the slow.
      const meanOf = (of: (stretch: Stretch) => number) => mean(own.map(of));
      const counts = [meanOf((s) => s.batches), meanOf((s) => s.rows), meanOf((s) => s.nonZeros)];
      return [{ values: [...counts, 1], target: meanOf((s) => s.seconds) }];
    });
    return nonNegativeFit(observations);
  });
  for (const [id, [fixed = 0, perRow = 0, perNonZero = 0]] of fits.entries()) {
    if (fixed + perRow + perNonZero > 0) continue;
    throw new TrainerError(
      "DATA_MISMATCH",
      `device ${id} has trained too little on a training set of ${rows.rows} rows to be measured; take more rows or a smaller network`,
    );
  }
  // A device copies the merged model before its first batch, which is part of merging.
  const copying = Math.max(...fits.map((fit) => fit[3] ?? 0));
  const merging = Math.max(1e-9, mean(measured.flatMap(({ merges }) => merges)) + copying);
  const bytes = parameterLayout(shape).length * 4 * (1 + optimizerStateArrays(rule));
  const spreadOf = (id: DeviceId) =>
    median(measured.flatMap(({ spreads }) => spreads.flatMap(([d, s]) => (d === id ? [s] : []))));
  return {
    name: options.name,
    description:
      `Measured with all devices at once (${devices.map(formatDevice).join(", ")}), ${rule?.name ?? "sgd"}, ` +
      `on ${rows.rows} rows of ${Math.round(rows.features.indices.length / rows.rows)} non-zeros on average. ` +
      "Merging is taken to grow with the model alone.",
    measured: true,
    network: { hidden: [...shape.hidden], labels: shape.labels },
    link: { latency: 0, bandwidth: bytes / merging },
    kinds: Object.fromEntries(
      fits.map(([fixed = 0, perRow = 0, perNonZero = 0], id) => [
        `${devices[id]!.kind}${id}`,
        {
          fixed,
          perRow,
          perNonZero,
          jitter: Math.min(0.5, spreadOf(id)),
          threads: devices[id]!.threads,
          role: devices[id]!.role,
        },
      ]),
    ),
    devices: devices.map(({ kind }, id) => ({ kind: `${kind}${id}` })),
  };
}

/** Rows below and above the median number of non-zeros. */
function halves(rows: Dataset<SharedArrayBuffer>): readonly Dataset<SharedArrayBuffer>[] {
  const { offsets } = rows.features;
  const size = (row: number) => offsets[row + 1]! - offsets[row]!;
  const order = Uint32Array.from({ length: rows.rows }, (_, row) => row).toSorted(
    (a, b) => size(a) - size(b),
  );
  const middle = Math.ceil(rows.rows / 2);
  return [order.subarray(0, middle), order.subarray(rows.rows - middle)].map((part) =>
    selectRows(rows, part, allocateShared),
  );
}

/** Equal batches, whoever is free, as in a run. */
async function measure(
  { shape, rule, devices, kernels, bf16, workerUrl, seconds = 0.4 }: CalibrateOptions,
  rows: Dataset<SharedArrayBuffer>,
  batch: number,
  batches: number,
): Promise<Measured> {
  const events: RunEvent[] = [];
  await train({
    train: rows,
    evaluation: null,
    shape,
    rule,
    devices,
    ...(kernels === undefined ? {} : { kernels }),
    ...(bf16 === undefined ? {} : { bf16 }),
    ...(workerUrl === undefined ? {} : { workerUrl }),
    policy: adaptiveSgd({
      epochs: Infinity,
      // Small: what is learned is of no interest, and must not diverge.
      schedule: { kind: "constant", rate: 1e-4 },
      merge: uniformMerge(),
      batch: { max: batch },
      batchScaling: { rule: "off" },
      megaBatchRows: batches * batch * devices.length,
      evaluateEvery: "never",
    }),
    seed: 1,
    maxSeconds: seconds,
    onEvent: (event) => events.push(event),
  });
  return stretchesOf(events, batch, devices.length);
}

function stretchesOf(events: readonly RunEvent[], batch: number, devices: number): Measured {
  const stretches: Stretch[] = [];
  const merges: number[] = [];
  const seconds = Array.from({ length: devices }, (): number[] => []);
  let since: (DoneEvent & { readonly at: number })[] = [];
  let began: number | null = null;
  for (const event of events) {
    if (event.type === "done") since.push(event);
    if (event.type !== "blended") continue;
    const last = since.at(-1);
    // Before the first merge devices warm up.
    if (began !== null && last !== undefined) {
      merges.push(event.at - last.at);
      for (let device = 0; device < devices; device++) {
        const own = since.filter((done) => done.device === device);
        const lastOwn = own.at(-1);
        if (lastOwn === undefined) continue;
        stretches.push({
          device,
          seconds: lastOwn.at - began,
          batches: own.length,
          rows: own.reduce((sum, { rows }) => sum + countRows(rows), 0),
          nonZeros: own.reduce((sum, { nonZeros }) => sum + nonZeros, 0),
        });
        const whole = own.filter(({ rows }) => countRows(rows) === batch);
        seconds[device]!.push(...whole.map((done) => done.seconds));
      }
    }
    since = [];
    began = event.at;
  }
  const spreads = seconds.flatMap((list, device): [DeviceId, number][] =>
    list.length < 5 ? [] : [[device, spread(list)]],
  );
  return { stretches, merges, spreads };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round(part * (sorted.length - 1))] ?? 0;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

const median = (values: readonly number[]) => quantile(values, 0.5);

function spread(values: readonly number[]): number {
  return (quantile(values, 0.9) - quantile(values, 0.1)) / 2 / median(values);
}

/** How long a run took for so many rows, and how long the simulator says that it takes. */
export interface CalibrationCheck {
  readonly rows: number;
  readonly real: number;
  readonly simulated: number;
  /** simulated / real − 1. */
  readonly error: number;
}

/**
 * Trains for real by a policy for `maxSeconds`, then simulates the same run for as many rows, and
 * compares the seconds from the first command to the last batch. The policy must go on until it is
 * told to finish, and not evaluate.
 */
export async function checkCalibration(
  profile: Profile,
  options: Omit<TrainOptions, "evaluation" | "onEvent" | "signal" | "maxSeconds"> & {
    readonly maxSeconds: number;
  },
): Promise<CalibrationCheck> {
  const { devices: _devices, workerUrl: _url, maxSeconds: _seconds, ...same } = options;
  let began = 0;
  let real = 0;
  let rows = 0;
  await train({
    ...options,
    evaluation: null,
    onEvent(event) {
      if (event.type === "start") began = event.at;
      if (event.type !== "done") return;
      real = event.at - began;
      rows += countRows(event.rows);
    },
  });
  const enough = new AbortController();
  let simulated = 0;
  let trained = 0;
  await simulate({
    ...same,
    evaluation: null,
    profile,
    signal: enough.signal,
    onEvent(event) {
      if (event.type !== "done" || trained >= rows) return;
      simulated = event.at;
      trained += countRows(event.rows);
      if (trained >= rows) enough.abort();
    },
  });
  return { rows, real, simulated, error: simulated / real - 1 };
}
