/**
 * How fast the kernels are, operation by operation, beside what the machine can do at most and, for
 * the output layer, beside a matrix library; all of it measured round by round.
 */
import { allocateOnHugePages } from "@heterosgd/cpu-kernels";
import { describeEnvironment, environment } from "../environment.js";
import { loadHelpers, type Helpers } from "../machine/helpers.js";
import { processorIsas } from "../machine/isas.js";
import { limitMeters, type LimitMeter } from "../machine/limits.js";
import { interleave, type Contestant } from "../rounds.js";
import { requireAgreement } from "./agreement.js";
import type { Case, Prepared, Sizes, TakeArray } from "./case.js";
import { casesOf } from "./cases.js";
import { implementations, type Implementation, type Missing } from "./implementations.js";
import { loadOpenBlas, type OpenBlas } from "./openblas.js";
import {
  describeCase,
  describeLimits,
  openBlasNames,
  resultOf,
  type CaseResult,
  type LimitResult,
} from "./report.js";
import { parseSelection, type Selection } from "./selection.js";

export interface KernelsOptions {
  /** Sizes of the output layer. Default 4,000 and 50,000. */
  readonly classes?: readonly number[];
  /** Rows of a batch. Default 256. */
  readonly rows?: number;
  /** Default 9, after one that does not count. */
  readonly rounds?: number;
  /** Operations and implementations to measure; all if left out. */
  readonly only?: readonly string[];
  readonly json?: boolean;
}

const HIDDEN = 128;

/** What is not one of the project's kernels but measured beside them. */
interface Surroundings {
  readonly helpers: Helpers | null;
  readonly meters: readonly LimitMeter[];
  readonly openBlas: OpenBlas | null;
}

/** @throws RangeError for sizes that are none, Error for a name in `only` that nothing has. */
export async function measureKernels(options: KernelsOptions = {}): Promise<void> {
  const { classes = [4000, 50_000], rows = 256, rounds = 9, only, json = false } = options;
  for (const size of [...classes, rows, rounds]) {
    if (!Number.isInteger(size) || size < 1) {
      throw new RangeError(`sizes and rounds are whole numbers from 1 on, received ${size}`);
    }
  }
  const where = environment();
  const { found, missing: lacking } = implementations();
  const names = [...found, ...lacking].map(({ name }) => name);
  const selection = parseSelection(only, [...names, ...openBlasNames]);
  const missing = [...lacking];
  const surroundings = surroundingsOf(missing);
  const sizes: Sizes = { rows, hidden: HIDDEN, classes };
  const limits = new Map<string, LimitResult>();
  const results: CaseResult[] = [];
  for (const operation of selection.operations) {
    for (const one of casesOf(operation, sizes)) {
      const result = await measure(one, found, selection, surroundings, rounds, limits);
      results.push(result);
      if (!json) console.log(describeCase(result));
    }
  }
  const core = surroundings.openBlas?.core ?? null;
  const { argv } = process;
  const command = ["npm run bench --", ...argv.slice(2)].join(" ");
  if (json) {
    const all = { command, environment: where, limits: [...limits.values()], results, missing };
    console.log(JSON.stringify({ ...all, openBlasCore: core }, null, 2));
    return;
  }
  if (limits.size > 0) console.log(describeLimits([...limits.values()]));
  for (const { name, reason } of missing) console.log(`not measured: ${name}: ${reason}`);
  console.log(
    `${rounds} rounds; medians; one thread by its processor time, two by the clock` +
      (core === null ? "" : `; OpenBLAS's kernels: ${core}`),
  );
  console.log(describeEnvironment(where));
  console.log(command);
}

function surroundingsOf(missing: Missing[]): Surroundings {
  let helpers: Helpers | null = null;
  let openBlas: OpenBlas | null = null;
  try {
    helpers = loadHelpers(processorIsas());
  } catch (error) {
    missing.push({ name: "limits, processor time, openblas", reason: messageOf(error) });
  }
  try {
    openBlas = loadOpenBlas();
  } catch (error) {
    missing.push({ name: "openblas", reason: messageOf(error) });
  }
  return { helpers, openBlas, meters: helpers === null ? [] : limitMeters(helpers) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One that is measured: what runs, and what it must agree with the others on. */
interface Entrant extends Contestant, Omit<Prepared, "run"> {
  readonly bf16: boolean;
  readonly dispose: () => void | Promise<void>;
}

async function measure(
  one: Case,
  found: readonly Implementation[],
  selection: Selection,
  surroundings: Surroundings,
  rounds: number,
  limits: Map<string, LimitResult>,
): Promise<CaseResult> {
  const shared = new Map<string, Float32Array>();
  const entrants = found
    // Of the operations in bfloat16 there is one; the others would be measured twice.
    .filter(({ name, bf16 }) => selection.includes(name) && (!bf16 || one.operation === "output"))
    .flatMap((implementation) => enter(one, implementation, shared) ?? []);
  entrants.push(...rivals(one, selection, surroundings, shared));
  try {
    await requireAgreement(one.title, entrants);
    const { helpers, meters } = surroundings;
    const measured: { meter: LimitMeter; value: number }[] = [];
    const timings = await interleave(entrants, {
      rounds,
      threadSeconds: helpers?.threadSeconds ?? null,
      onRound: () => {
        for (const meter of meters) measured.push({ meter, value: meter.measure() });
      },
    });
    const here = new Map<string, number[]>();
    for (const { meter, value } of measured) {
      const { name, unit } = meter;
      here.set(name, [...(here.get(name) ?? []), value]);
      limits.set(name, { name, unit, values: [...(limits.get(name)?.values ?? []), value] });
    }
    return resultOf(one, entrants, timings, here);
  } finally {
    for (const { dispose } of entrants) await dispose();
  }
}

function enter(
  one: Case,
  { name, threads, bf16, ownMemory, create }: Implementation,
  shared: Map<string, Float32Array>,
): Entrant | null {
  const kernels = create();
  const arrays = ownMemory ? new Map<string, Float32Array>() : shared;
  const take = ownMemory ? kernels.allocate.bind(kernels) : allocateOnHugePages;
  const prepared = one.prepare({ kernels, array: arrayTaker(arrays, take) });
  if (prepared === null) {
    void kernels.dispose();
    return null;
  }
  return { name, threads, bf16, dispose: () => kernels.dispose(), ...prepared };
}

function arrayTaker(
  arrays: Map<string, Float32Array>,
  take: (length: number) => Float32Array,
): TakeArray {
  return (name, length, fill) => {
    const known = arrays.get(name);
    if (known !== undefined) return known;
    const taken = take(length);
    fill?.(taken);
    arrays.set(name, taken);
    return taken;
  };
}

/** OpenBLAS with one thread and with two, on the arrays that the kernels share. */
function rivals(
  { rival }: Case,
  selection: Selection,
  { helpers, openBlas }: Surroundings,
  shared: Map<string, Float32Array>,
): readonly Entrant[] {
  if (rival === undefined || helpers === null || openBlas === null) return [];
  const array = arrayTaker(shared, allocateOnHugePages);
  return openBlasNames
    .map((name, i) => ({ name, threads: i + 1 }))
    .filter(({ name }) => selection.includes(name))
    .map(({ name, threads }) => ({
      name,
      threads,
      bf16: false,
      dispose: () => undefined,
      ...rival(array, openBlas, helpers.softmax, threads),
    }));
}
