import { expect, test } from "vitest";
import { createPlainKernels } from "@heterosgd/model";
import type { BlendCall, ModelMemory } from "./api.js";
import { createBlendJournal, createShardBlender } from "./blend-shard.js";

const LENGTH = 40_000;

function model(value: (i: number) => number): ModelMemory {
  const array = () => Float32Array.from({ length: LENGTH }, (_, i) => value(i));
  return { parameters: array(), state: [array()], updates: new Int32Array(1) };
}

const terms = [
  { model: 0, coefficient: 0.5 },
  { model: 1, coefficient: 2 },
];
const call = { target: 0, terms, stateTerms: terms, start: 16, end: LENGTH - 16, journal: null };
const fresh = () => [model((i) => i), model((i) => i % 7)];

/** The shard, on a device that has blended nothing before. */
function blendShard(of: BlendCall, memory: (slot: number) => ModelMemory): void {
  const kernels = createPlainKernels();
  const blender = createShardBlender(
    (target, parts) => kernels.blend(target, parts),
    (length) => kernels.allocate(length),
  );
  blender.blend(of, memory);
}

function expected(): readonly ModelMemory[] {
  const models = fresh();
  blendShard(call, (slot) => models[slot]!);
  return models;
}

test("a shard covers its elements of parameters and state, and no others", () => {
  const [target] = expected();
  for (const array of [target!.parameters, target!.state[0]!]) {
    expect([...array]).toEqual(
      Array.from({ length: LENGTH }, (_, i) =>
        i >= 16 && i < LENGTH - 16 ? 0.5 * i + 2 * (i % 7) : i,
      ),
    );
  }
});

/** The array, but that its owner dies at some call, perhaps half-way through writing. */
function mortal(array: Float32Array, live: () => boolean, half: boolean): Float32Array {
  const view = array.subarray();
  view.subarray = (from, to) => {
    if (!live()) throw new Error("died");
    return mortal(array.subarray(from, to), live, half);
  };
  view.set = (values, from) => {
    if (live()) return array.set(values, from);
    if (half) array.set(Array.from(values).slice(0, values.length >> 1), from);
    throw new Error("died");
  };
  return view;
}

const bytes = ({ parameters, state }: ModelMemory) =>
  [parameters, ...state].map((array) => Buffer.from(array.buffer));

test("a shard in place that breaks off anywhere is carried on without a block blended twice", () => {
  const [whole] = expected().map(bytes);
  // Of two arrays the target and two sources are taken; six blocks each read two sources and write
  // once.
  for (let operations = 0; operations < 24; operations++) {
    for (const half of [false, true]) {
      const models = fresh();
      const inPlace = { ...call, journal: createBlendJournal() };
      let left = operations;
      const dying = (array: Float32Array) => mortal(array, () => left-- > 0, half);
      const broken = models.map(({ parameters, state, updates }) => ({
        parameters: dying(parameters),
        state: state.map(dying),
        updates,
      }));
      expect(() => blendShard(inPlace, (slot) => broken[slot]!)).toThrow("died");
      blendShard(inPlace, (slot) => models[slot]!);
      const [target] = models.map(bytes);
      expect(target!.every((array, i) => array.equals(whole![i]!))).toBe(true);
    }
  }
});
