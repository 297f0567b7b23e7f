// Trains the network of `bench peers` in TensorFlow.js on its WebAssembly backend.
//
//     node tfjs-train.mjs FOLDER SETTINGS MODULES
//
// TensorFlow.js has no sparse rows, and its WebAssembly backend no gradient of gathered ones: the first layer
// and its updates are plain JavaScript over the rows that a batch touches, all else are its
// operations. Its WebAssembly has one thread in Node. FOLDER, SETTINGS and the output are as in
// torch-train.py; MODULES is a folder in which npm has installed both packages.
import { readFileSync, openSync, readSync, closeSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [folder, settingsText, modules] = process.argv.slice(2);
const settings = JSON.parse(settingsText);
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

function load() {
  const require = createRequire(join(resolve(modules), "none.js"));
  // It greets on stderr, and says that it is slow.
  console.warn = console.log = () => undefined;
  const [loaded] = ["", "-backend-wasm"].map((which) => require(`@tensorflow/tfjs${which}`));
  return loaded;
}

let tf;
try {
  tf = load();
} catch (error) {
  say({ missing: String(error.message).split("\n")[0] });
  process.exit(0);
}
await tf.setBackend("wasm");
await tf.ready();

const plan = JSON.parse(readFileSync(join(folder, "peers.json"), "utf8"));
const types = { "<f4": Float32Array, "<u4": Uint32Array };
function part(name) {
  const { type, offset, length } = plan.arrays[name];
  const array = new types[type](length);
  const bytes = new Uint8Array(array.buffer);
  const file = openSync(join(folder, "peers.bin"), "r");
  for (let done = 0; done < bytes.length;) {
    done += readSync(file, bytes, done, bytes.length - done, offset + done);
  }
  closeSync(file);
  return array;
}
function readRows(name) {
  const keys = ["offsets", "indices", "values", "labelOffsets", "labels"];
  const arrays = Object.fromEntries(keys.map((key) => [key, part(`${name}.${key}`)]));
  return { ...arrays, rows: arrays.offsets.length - 1 };
}
const train = readRows("train");
const test = readRows("test");
const { hidden: units, labels } = plan;

const beta1 = 0.9;
const beta2 = 0.999;
const epsilon = 1e-8;
let steps = 0;

/** Adam over a part of plain arrays. */
function createArrayAdam(parameters) {
  const first = new Float32Array(parameters.length);
  const second = new Float32Array(parameters.length);
  return (from, slopes, slopesFrom, length, rate) => {
    const one = rate / (1 - beta1 ** steps);
    const two = Math.sqrt(1 - beta2 ** steps);
    for (let i = 0; i < length; i++) {
      const slope = slopes[slopesFrom + i];
      const m = (first[from + i] += (1 - beta1) * (slope - first[from + i]));
      const v = (second[from + i] += (1 - beta2) * (slope * slope - second[from + i]));
      parameters[from + i] -= (one * m) / (Math.sqrt(v) / two + epsilon);
    }
  };
}

/** Adam over a variable, by operations. */
function createTensorAdam(variable) {
  const first = tf.variable(tf.zerosLike(variable));
  const second = tf.variable(tf.zerosLike(variable));
  return (slopes, rate) => {
    first.assign(tf.add(tf.mul(first, beta1), tf.mul(slopes, 1 - beta1)));
    second.assign(tf.add(tf.mul(second, beta2), tf.mul(tf.square(slopes), 1 - beta2)));
    const root = tf.add(tf.div(tf.sqrt(second), Math.sqrt(1 - beta2 ** steps)), epsilon);
    const change = tf.mul(tf.div(first, root), rate / (1 - beta1 ** steps));
    variable.assign(tf.sub(variable, change));
  };
}

const inputWeight = part("input.weight");
const inputBias = part("input.bias");
const outputWeight = tf.variable(tf.tensor2d(part("output.weight"), [labels, units]));
const outputBias = tf.variable(tf.tensor1d(part("output.bias")));
const adamOf = {
  inputWeight: createArrayAdam(inputWeight),
  inputBias: createArrayAdam(inputBias),
  outputWeight: createTensorAdam(outputWeight),
  outputBias: createTensorAdam(outputBias),
};

function hiddenOf(data, rows) {
  const hidden = new Float32Array(rows.length * units);
  rows.forEach((row, i) => {
    const sums = hidden.subarray(i * units, (i + 1) * units);
    sums.set(inputBias);
    for (let at = data.offsets[row]; at < data.offsets[row + 1]; at++) {
      const value = data.values[at];
      const from = data.indices[at] * units;
      for (let k = 0; k < units; k++) sums[k] += value * inputWeight[from + k];
    }
    for (let k = 0; k < units; k++) if (sums[k] < 0) sums[k] = 0;
  });
  return hidden;
}

function scoresOf(hidden, rows) {
  const tensor = tf.tensor2d(hidden, [rows, units]);
  return tf.add(tf.matMul(tensor, outputWeight, false, true), outputBias);
}

/** What is wanted of each row, and what part it has in the loss: none without labels. */
function targetsOf(rows) {
  const wanted = new Float32Array(rows.length * labels);
  const counted = new Float32Array(rows.length);
  rows.forEach((row, i) => {
    const [from, to] = [train.labelOffsets[row], train.labelOffsets[row + 1]];
    for (let at = from; at < to; at++) wanted[i * labels + train.labels[at]] = 1 / (to - from);
    if (to > from) counted[i] = 1;
  });
  return [tf.tensor2d(wanted, [rows.length, labels]), tf.tensor2d(counted, [rows.length, 1])];
}

function step(rows, rate) {
  steps++;
  const hidden = hiddenOf(train, rows);
  const slopes = tf.tidy(() => {
    const [wanted, counted] = targetsOf(rows);
    const scores = tf.softmax(scoresOf(hidden, rows.length));
    const errors = tf.mul(tf.sub(tf.mul(scores, counted), wanted), 1 / rows.length);
    const back = tf.matMul(errors, outputWeight).dataSync();
    const inputs = tf.tensor2d(hidden, [rows.length, units]);
    adamOf.outputWeight(tf.matMul(errors, inputs, true, false), rate);
    adamOf.outputBias(tf.sum(errors, 0), rate);
    return back;
  });
  const biasSlopes = new Float32Array(units);
  const places = new Map();
  rows.forEach((row, i) => {
    for (let k = 0; k < units; k++) {
      if (hidden[i * units + k] === 0) slopes[i * units + k] = 0;
      biasSlopes[k] += slopes[i * units + k];
    }
    for (let at = train.offsets[row]; at < train.offsets[row + 1]; at++) {
      const feature = train.indices[at];
      if (!places.has(feature)) places.set(feature, places.size * units);
    }
  });
  const weightSlopes = new Float32Array(places.size * units);
  rows.forEach((row, i) => {
    for (let at = train.offsets[row]; at < train.offsets[row + 1]; at++) {
      const to = places.get(train.indices[at]);
      const value = train.values[at];
      for (let k = 0; k < units; k++) weightSlopes[to + k] += value * slopes[i * units + k];
    }
  });
  adamOf.inputBias(0, biasSlopes, 0, units, rate);
  for (const [feature, from] of places) {
    adamOf.inputWeight(feature * units, weightSlopes, from, units, rate);
  }
}

function precision() {
  let hits = 0;
  for (let start = 0; start < test.rows; start += settings.batch) {
    const count = Math.min(settings.batch, test.rows - start);
    const rows = Array.from({ length: count }, (_, i) => start + i);
    const best = tf.tidy(() => tf.argMax(scoresOf(hiddenOf(test, rows), count), 1).dataSync());
    rows.forEach((row, i) => {
      const wanted = test.labels.subarray(test.labelOffsets[row], test.labelOffsets[row + 1]);
      if (wanted.includes(best[i])) hits++;
    });
  }
  return hits / test.rows;
}

/** Numbers from 0 to below 1: a shuffle needs no good ones. */
let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

say({ ready: `tfjs ${tf.version.tfjs}, WebAssembly` });
const total = settings.epochs * train.rows;
const order = Array.from({ length: train.rows }, (_, row) => row);
let done = 0;
let seconds = 0;
for (let epoch = 0; epoch < settings.epochs && seconds <= settings.maxSeconds; epoch++) {
  for (let i = train.rows - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const began = performance.now();
  const elapsed = () => seconds + (performance.now() - began) / 1000;
  for (let start = 0; start < train.rows; start += settings.batch) {
    const rows = order.slice(start, start + settings.batch);
    step(rows, (settings.rate * (1 + Math.cos((Math.PI * done) / total))) / 2);
    done += rows.length;
    if (elapsed() > settings.maxSeconds) break;
  }
  seconds = elapsed();
  say({ rows: done, seconds, precision: precision() });
}
