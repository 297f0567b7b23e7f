// @ts-check
// Calls the addon at random, for `fuzz-native.mjs`. Most calls are valid but for one or two arguments.
// Each has to succeed and leave everything beside its arrays as it was, or throw an error with a
// code. All memory that the addon is given comes from the process's allocator, so that
// AddressSanitizer sees what lies beyond it.
//
//   node fuzz-native-calls.mjs ADDON CALLS SEED
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { createArrays, createRandom } from "./fuzz-native-arrays.mjs";

const [addonPath = "", callCount = "1000", seedText = "1"] = process.argv.slice(2);
/** @type {Record<string, (...args: unknown[]) => unknown>} */
const addon = createRequire(import.meta.url)(addonPath);

const codes = new Set([
  "KERNEL_ARRAY",
  "KERNEL_BATCH",
  "KERNEL_ARGUMENT",
  "KERNEL_MEMORY",
  "KERNEL_DISPOSED",
  "ISA_UNSUPPORTED",
]);
const random = createRandom(Number(seedText));
const arrays = createArrays(random);
const { below, chance, pick } = random;
const { floats, words, shared } = arrays;

const call = (/** @type {string} */ name, /** @type {readonly unknown[]} */ args) =>
  /** @type {Function} */ (addon[name])(...args);

/**
 * Kernels, and what their slots hold, so that most calls fit it.
 *
 * @typedef {{ rows: number, features: number, classes: number }} Shape
 *
 * @typedef {{ handle: unknown, disposed: boolean, slots: [Shape | undefined, Shape | undefined] }}
 *   Kernels
 */
/** @type {Kernels[]} */
const live = [];

function createKernels() {
  const bits = Number(call("supported", []));
  const isas = [0, 1, 2].filter((i) => bits & (1 << i));
  const bf16 = (bits & 8) !== 0 && chance(0.2);
  const isa = bf16 ? 0 : pick(isas);
  const kept = pick([0, 1000, 100_000, 2 ** 30, Number.MAX_SAFE_INTEGER]);
  const handle = call("create", [1 + below(3), isa, bf16, kept]);
  /** @type {Kernels} */
  const kernels = { handle, disposed: false, slots: [undefined, undefined] };
  return kernels;
}

/** @param {number} inputs @param {number} outputs */
const layer = (inputs, outputs) => [floats(inputs * outputs), floats(outputs), inputs, outputs];

/** @param {readonly unknown[]} of a layer's arguments */
function gradient([weights, bias, inputs, outputs]) {
  const kind = below(4);
  const size = Number(inputs) * Number(outputs);
  const own = chance(0.5) ? [weights, bias] : [floats(size), floats(Number(outputs))];
  const state = () => [floats(size), floats(Number(outputs))];
  const numbers = [kind, 0.3, 0.1, 0.1, 0.9, 0.99, 1 + below(5)];
  return [...numbers, ...own, ...state(), ...state()];
}

/** A batch's arguments; `damage` breaks the arrays, not their lengths. @param {Kernels} kernels */
function batch(kernels, damage = chance(0.2), slot = below(2)) {
  const rows = 1 + below(chance(0.2) ? 70 : 9);
  const features = 1 + below(50);
  const classes = 1 + below(60);
  const offsets = [0];
  const indices = [];
  const labelOffsets = [0];
  const labels = [];
  for (let row = 0; row < rows; row++) {
    indices.push(...random.ascending(features, below(8)));
    labels.push(...random.ascending(classes, below(4)));
    offsets.push(indices.length);
    labelOffsets.push(labels.length);
  }
  kernels.slots[slot] = damage ? undefined : { rows, features, classes };
  const given = [offsets, indices, labelOffsets, labels].map((numbers) => {
    const array = words(numbers.length + below(3));
    array.set(numbers);
    return array;
  });
  if (damage) {
    for (let i = 1 + below(3); i > 0; i--) {
      const array = pick(given);
      if (array.length > 0)
        array[below(array.length)] = pick([0, 1, below(100), 2 ** 31, 2 ** 32 - 1]);
    }
  }
  const [o, i, lo, l] = given;
  return [slot, rows, o, i, floats(indices.length + below(3)), lo, l];
}

/** A slot, most often one that holds a batch, and what it holds. @param {Kernels} kernels */
function batchOf({ slots }) {
  const slot = below(2);
  const other = slots[slot] === undefined ? 1 - slot : slot;
  return { slot: other, ...(slots[other] ?? { rows: 3, features: 5, classes: 4 }) };
}

/** @type {Record<string, (kernels: Kernels) => unknown[]>} */
const makers = {
  upload: (kernels) => batch(kernels),
  gather(kernels) {
    const { slot, rows, features } = batchOf(kernels);
    const units = 1 + below(40);
    return [slot, ...layer(features, units), below(3), floats(rows * units)];
  },
  dense() {
    const [rows, inputs, outputs] = [below(40), 1 + below(40), 1 + below(40)];
    return [
      rows,
      floats(rows * inputs),
      ...layer(inputs, outputs),
      below(3),
      floats(rows * outputs),
    ];
  },
  output(kernels) {
    const { slot, rows, classes } = batchOf(kernels);
    const units = 1 + below(40);
    const own = layer(units, classes + below(3));
    const dHidden = chance(0.3) ? null : floats(rows * units);
    const before = [slot, floats(rows * units), ...own, below(2)];
    return [...before, ...gradient(own), dHidden, floats(rows)];
  },
  denseBackward() {
    const [rows, inputs, outputs] = [1 + below(40), 1 + below(40), 1 + below(40)];
    const own = layer(inputs, outputs);
    const values = [floats(rows * outputs), floats(rows * outputs)];
    const before = [rows, floats(rows * inputs), ...own, below(3), ...values];
    return [...before, ...gradient(own), floats(rows * inputs)];
  },
  scatter(kernels) {
    const { slot, rows, features } = batchOf(kernels);
    const units = 1 + below(40);
    const own = layer(features, units);
    const values = [floats(rows * units), floats(rows * units)];
    return [slot, ...own, below(3), ...values, ...gradient(own)];
  },
  topK() {
    const [rows, units, classes] = [below(40), 1 + below(40), 1 + below(200)];
    const k = 1 + below(classes);
    const results = [words(rows * k), floats(rows * k), floats(rows)];
    return [rows, floats(rows * units), ...layer(units, classes), k, ...results];
  },
  blend() {
    const length = below(300);
    const target = floats(length);
    const count = chance(0.05) ? 40 : below(5);
    const term = () => [random.next() - 0.5, chance(0.3) ? target : floats(length)];
    return [target, ...Array.from({ length: count }, term).flat()];
  },
  trainMicroBatches(kernels) {
    const { slot, rows, features, classes } = batchOf(kernels);
    const widths = [
      features,
      ...Array.from({ length: 1 + below(3) }, () => 1 + below(30)),
      classes,
    ];
    const layers = widths.slice(1).map((outputs, i) => layer(widths[i] ?? 1, outputs));
    return [slot, below(3), below(2), 1 + below(9), 0.1, floats(rows), ...layers.flat()];
  },
  workBytes: () => [],
};

/** What stands where something else should. */
function junk() {
  return pick([
    () => undefined,
    () => null,
    () => -1,
    () => NaN,
    () => Infinity,
    () => 0.5,
    () => 2 ** 31,
    () => 2 ** 32 - 1,
    () => 2 ** 53,
    () => below(100),
    () => 10n,
    () => "7",
    () => true,
    () => Symbol("x"),
    () => ({ length: 4, byteLength: 16 }),
    () => [1, 2, 3],
    () => new Proxy(new Float32Array(4), {}),
    () => new DataView(new ArrayBuffer(8)),
    () => new Float64Array(below(50)),
    () => new Int32Array(below(50)),
    () => floats(below(50)),
    () => words(below(50)),
    () => arrays.detached(),
    () => arrays.shrunk(),
    () => pick(live).handle,
    () => () => junk(),
  ])();
}

/** @param {unknown} value @returns {value is Float32Array} */
function isFloats(value) {
  return ArrayBuffer.isView(value) && value instanceof Float32Array;
}

/** One more or less of a size, of an array's length. @param {unknown} value @returns {unknown} */
function nearly(value) {
  if (typeof value === "number") return value + pick([-1, 1]);
  if (isFloats(value)) return floats(Math.max(0, value.length - 1));
  if (value instanceof Uint32Array) return words(Math.max(0, value.length - 1));
  return junk();
}

/** @param {unknown[]} args */
function mutate(args) {
  const at = below(args.length);
  const kind = below(6);
  if (kind === 0) args.splice(at, 1);
  else if (kind === 1) args.splice(at, 0, junk());
  // Two arguments become one array, or parts of one.
  else if (kind === 2) args[at] = pick(args);
  else if (kind === 3 && isFloats(args[at])) args[at] = arrays.overlapping(args[at]);
  else if (kind === 4) args[at] = junk();
  else args[at] = nearly(args[at]);
}

/** @param {string} name @param {readonly unknown[]} args */
function check(name, args) {
  if (tryCall(name, args)) counts.passed++;
  else counts.refused++;
  const damage = arrays.damage();
  if (damage !== undefined)
    throw new Error(`${describe(name, args)} wrote beside its arrays: ${damage}`);
}

function once() {
  const kernels = pick(live);
  const name = pick(Object.keys(makers));
  const args = [kernels.handle, .../** @type {Function} */ (makers[name])(kernels)];
  if (chance(0.35)) for (let i = 1 + below(2); i > 0; i--) mutate(args);
  check(name, args);
  // The caller's batch may change at any time after the upload.
  if (name === "upload") {
    for (const arg of args) if (arg instanceof Uint32Array) arg.fill(2 ** 32 - 1);
  }
  arrays.reset();
}

/** Every argument of every operation a little too small or large, one at a time. */
function sweep() {
  const kernels = createKernels();
  for (const slot of [0, 1]) {
    // Memory that another thread writes to rarely holds a batch.
    while (!tryCall("upload", [kernels.handle, slot, ...batch(kernels, false, slot).slice(1)]));
  }
  for (const [name, make] of Object.entries(makers)) {
    const fit = [kernels.handle, ...(name === "upload" ? batch(kernels, false) : make(kernels))];
    for (let at = 1; at < fit.length; at++) check(name, fit.with(at, nearly(fit[at])));
    arrays.reset();
  }
  call("dispose", [kernels.handle]);
}

/** @param {string} name @param {readonly unknown[]} args */
function describe(name, args) {
  const shown = args.map((arg) => {
    if (isFloats(arg) || arg instanceof Uint32Array)
      return `${arg.constructor.name}(${arg.length})`;
    return typeof arg === "number" ? String(arg) : typeof arg;
  });
  return `call ${counts.passed + counts.refused}, ${name}(${shown.join(", ")})`;
}

function others() {
  for (const [name, args] of [
    ["create", [1 + below(3), below(3), false, 1000]],
    [
      "plannedBytes",
      [1 + below(3), 2, false, 1e6, 1 + below(300), below(999), 9, true, 9, 5, below(99)],
    ],
    ["placeOf", [floats(below(9))]],
    ["settle", [floats(below(3000))]],
    ["dispose", [{}]],
  ]) {
    const given = [.../** @type {unknown[]} */ (args)];
    if (chance(0.7)) mutate(given);
    tryCall(/** @type {string} */ (name), given);
  }
}

/** @param {string} name @param {readonly unknown[]} args @returns {boolean} whether it succeeded */
function tryCall(name, args) {
  try {
    call(name, args);
    return true;
  } catch (error) {
    const { code } = /** @type {{ code?: string }} */ (error);
    if (code === undefined || !codes.has(code)) {
      throw new Error(`${describe(name, args)} threw`, { cause: error });
    }
    return false;
  }
}

const counts = { passed: 0, refused: 0 };
// Another thread changes what lies in shared memory all the time, while it is checked and used.
const noise = `
  const { workerData } = require("node:worker_threads");
  const { words, stop } = workerData;
  for (let i = 0; Atomics.load(stop, 0) === 0; i++) words[(i * 7919) % words.length] = (i * 2654435761) >>> 0;`;
const stop = new Int32Array(new SharedArrayBuffer(4));
const worker = new Worker(noise, { eval: true, workerData: { words: shared, stop } });

for (let i = 0; i < 4; i++) live.push(createKernels());
const total = Number(callCount);
for (let i = 0; i < total; i++) {
  if (i % 100 === 0) sweep();
  once();
  if (i % 20 === 0) others();
  if (i % 50 === 0) {
    const at = below(live.length);
    const old = live[at];
    if (old !== undefined && !old.disposed) {
      tryCall("dispose", [old.handle]);
      old.disposed = true;
    }
    // Its handle stays for a while, then goes to the garbage collector.
    if (chance(0.9)) live[at] = createKernels();
    if (live.every(({ disposed }) => disposed)) live[0] = createKernels();
  }
}
Atomics.store(stop, 0, 1);
await worker.terminate();
process.stdout.write(
  `${counts.passed} calls succeeded, ${counts.refused} were refused with a code\n`,
);
