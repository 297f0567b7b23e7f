/**
 * The algorithms without races a second time, from their formulas and what was recorded: which rows
 * a device trained on, and which of them were in which update. No policy and no command is asked.
 */
import {
  countRows,
  type DoneEvent,
  type MergeReport,
  type RoundReport,
  type RowRange,
} from "@heterosgd/scheduler";
import type { RunEvent } from "../src/index.js";
import { combine, type GradientOf, type Vector } from "./formulas.js";

/** What a run comes to: the model at its end, and each batch's loss at the parameters it was of. */
export interface Trajectory {
  readonly model: Vector;
  readonly losses: readonly { readonly recorded: number; readonly computed: number }[];
}

interface Run {
  readonly events: readonly RunEvent[];
  readonly initial: Vector;
  readonly gradient: GradientOf;
  /** η at so many epochs. */
  readonly rate: (epochs: number) => number;
  readonly trainRows: number;
  /** Rows of a full batch. */
  readonly batch: number;
}

type Compare = (done: DoneEvent, computed: number) => void;
/** One algorithm's round: its parts by device, in the order in which they were trained. */
type Round<S> = (
  state: S,
  parts: readonly Part[],
  run: Run & { readonly compare: Compare; readonly fullRows: number },
  report: MergeReport | RoundReport,
) => Promise<S>;

interface Part {
  readonly device: number;
  readonly batches: readonly DoneEvent[];
}

/** What devices have of their own, by id. */
type Replicas = ReadonlyMap<number, Vector>;

const startOf = (rows: readonly RowRange[]) => rows[0]!;
const timeOf = ({ trainRows }: Run, rows: readonly RowRange[]) =>
  startOf(rows).epoch + startOf(rows).start / trainRows;

/**
 * Goes through the reports; each device's next `updates` batches are what it had a part in the
 * round with. Those of a lost device that are in no report are in no model. `fullRows` are a batch of
 * each device that was there when the round began.
 */
async function rounds<S extends { readonly model: Vector }>(
  run: Run,
  first: S,
  round: Round<S>,
): Promise<Trajectory> {
  const losses: { recorded: number; computed: number }[] = [];
  const compare: Compare = ({ loss }, computed) => losses.push({ recorded: loss, computed });
  const waiting = new Map<number, DoneEvent[]>();
  let state = first;
  const sizes = new Map<number, number>();
  let fullRows = 0;
  for (const event of run.events) {
    if (event.type === "start") {
      for (const { device, joins } of event.devices) if (!joins) sizes.set(device, run.batch);
      fullRows = sizes.size * run.batch;
    }
    if (event.type === "joined") sizes.set(event.device.id, run.batch);
    if (event.type === "lost") sizes.delete(event.device);
    if (event.type === "done") {
      waiting.set(event.device, [...(waiting.get(event.device) ?? []), event]);
    }
    if (event.type !== "merge" && event.type !== "round") continue;
    const parts = event.devices.map(({ device, updates }) => ({
      device,
      batches: (waiting.get(device) ?? []).splice(0, updates),
    }));
    state = await round(state, parts, { ...run, compare, fullRows }, event);
    for (const { device, nextBatchRows } of event.devices) {
      if (sizes.has(device)) sizes.set(device, nextBatchRows);
    }
    fullRows = [...sizes.values()].reduce((total, size) => total + size, 0);
  }
  return { model: state.model, losses };
}

/** x − η/b · Σ∇ℓ(x; rows), batch after batch. */
async function descend(
  from: Vector,
  batches: readonly DoneEvent[],
  run: Run & { readonly compare: Compare },
): Promise<Vector> {
  let x = from;
  for (const done of batches) {
    const { sum, loss } = await run.gradient(done.rows, x);
    run.compare(done, loss);
    x = combine([1, x], [-run.rate(timeOf(run, done.rows)) / run.batch, sum]);
  }
  return x;
}

async function gradients(
  at: readonly Vector[],
  parts: readonly Part[],
  { gradient, compare }: Run & { readonly compare: Compare },
): Promise<readonly (Vector | null)[]> {
  const sums: (Vector | null)[] = [];
  for (const [i, { batches }] of parts.entries()) {
    let total: Vector | null = null;
    for (const done of batches) {
      const { sum, loss } = await gradient(done.rows, at[i]!);
      compare(done, loss);
      total = total === null ? sum : combine([1, total], [1, sum]);
    }
    sums.push(total);
  }
  return sums;
}

const present = (sums: readonly (Vector | null)[]) => sums.filter((sum) => sum !== null);
const rowsOf = (parts: readonly Part[]) =>
  parts.reduce((sum, { batches }) => sum + batches.reduce((n, d) => n + countRows(d.rows), 0), 0);
const earliest = (run: Run, parts: readonly Part[]) =>
  Math.min(...parts.flatMap(({ batches }) => batches.map(({ rows }) => timeOf(run, rows))));

/** w − η/Σb_i · Σ g_i. */
export const synchronous = (run: Run) =>
  rounds(run, { model: run.initial }, async ({ model }, parts, running) => {
    const sums = await gradients(
      parts.map(() => model),
      parts,
      running,
    );
    const scale = -run.rate(earliest(run, parts)) / running.fullRows;
    return { model: combine([1, model], ...present(sums).map((sum) => [scale, sum] as const)) };
  });

/** The mean of replicas that have been trained. */
export const averaged = (run: Run) =>
  rounds(run, { model: run.initial }, async ({ model }, parts, running) => {
    const replicas: Vector[] = [];
    for (const { batches } of parts) {
      if (batches.length > 0) replicas.push(await descend(model, batches, running));
    }
    return { model: combine(...replicas.map((x) => [1 / replicas.length, x] as const)) };
  });

/** Σ p_i w_i + γ (w̄ − w̄⁻), p_i by the updates, or by the batches where those are equal. */
export const adaptive = (run: Run, gamma: number) =>
  rounds(
    run,
    { model: run.initial, previous: run.initial },
    async ({ model, previous }, parts, running, report) => {
      const updates = parts.map(({ batches }) => batches.length);
      const sizes = report.devices.map(({ batchRows }) => batchRows);
      const counted = updates.every((u) => u === updates[0]) ? sizes : updates;
      const total = counted.reduce((sum, value) => sum + value, 0);
      const terms: (readonly [number, Vector])[] = [
        [gamma, model],
        [-gamma, previous],
      ];
      for (const [i, { batches }] of parts.entries()) {
        terms.push([counted[i]! / total, await descend(model, batches, running)]);
      }
      return { model: combine(...terms), previous: model };
    },
  );

/** d_i = α (x_i − x̃); x_i −= d_i; x̃ += Σ d_i. */
export const elastic = (run: Run, elasticity: number) =>
  rounds(
    run,
    { model: run.initial, replicas: new Map() as Replicas },
    async ({ model, replicas }, parts, running) => {
      const alpha = elasticity / parts.length;
      const forces: Vector[] = [];
      const next = new Map<number, Vector>();
      for (const { device, batches } of parts) {
        const x = await descend(replicas.get(device) ?? model, batches, running);
        const force = combine([alpha, x], [-alpha, model]);
        forces.push(force);
        next.set(device, combine([1, x], [-1, force]));
      }
      const centre = combine([1, model], ...forces.map((force) => [1, force] as const));
      return { model: centre, replicas: next };
    },
  );

/** c_i = α (w_i − z); w_i −= η g_i/b + c_i; z += Σ c_i + μ (z − z⁻). */
export const corrected = (run: Run, mu: number) =>
  rounds(
    run,
    { model: run.initial, previous: run.initial, replicas: new Map() as Replicas },
    async ({ model: z, previous, replicas }, parts, running) => {
      const w = parts.map(({ device }) => replicas.get(device) ?? z);
      const sums = await gradients(w, parts, running);
      const scale = -run.rate(earliest(run, parts)) / run.batch;
      const corrections = w.map((x) => combine([1 / w.length, x], [-1 / w.length, z]));
      const next = parts.map(({ device }, i) => {
        const sum = sums[i] ?? null;
        const step = sum === null ? [] : ([[scale, sum]] as const);
        return [device, combine([1, w[i]!], [-1, corrections[i]!], ...step)] as const;
      });
      const all = corrections.map((c) => [1, c] as const);
      return {
        model: combine([1, z], [mu, z], [-mu, previous], ...all),
        previous: z,
        replicas: new Map(next),
      };
    },
  );

/** w_{t+1} = w_t − η_t/Σc · ΣS, where S is of w_{t−1}. */
export const delayed = (run: Run) =>
  rounds(
    run,
    { model: run.initial, previous: run.initial, trained: 0 },
    async ({ model, previous, trained }, parts, running) => {
      const sums = await gradients(
        parts.map(() => previous),
        parts,
        running,
      );
      const rows = rowsOf(parts);
      const scale = -run.rate(trained / run.trainRows) / rows;
      return {
        model: combine([1, model], ...present(sums).map((sum) => [scale, sum] as const)),
        previous: model,
        trained: trained + rows,
      };
    },
  );
