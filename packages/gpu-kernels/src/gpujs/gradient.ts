import type { GradientTarget, RuleNumbers } from "@heterosgd/model";
import { finite, numberOf, requireObject, ruleNumbers, stateEntries } from "../checks.js";
import type { GpujsArray } from "./api.js";
import type { Arrays, LayerPlaces, Place } from "./arrays.js";
import type { Block, Computer } from "./computer.js";
import * as programs from "./update-programs.js";

type Part = "weights" | "bias";

/** Where a layer's gradient goes, checked. */
export interface Update {
  /** Blocks of its target that the device has room for at once. */
  readonly onDevice: (part: Part, blockLength: number) => DeviceUpdate;
  /** Rows of `width` elements in host memory. */
  readonly onHost: (width: number) => HostUpdate;
}

/** Applies a block of the gradient, which stays the caller's, to the block of the target at its place. */
export type DeviceUpdate = (index: number, gradient: Block) => void;
/** Applies `gradient`, from element `start` on, to a row of the target's weights. */
export type HostUpdate = (row: number, gradient: Float32Array, start: number) => void;

/** Checks a gradient's target, for a layer of these sizes. */
export function readGradient(
  computer: Computer,
  arrays: Arrays,
  operation: string,
  gradient: GradientTarget<GpujsArray>,
  sizes: { readonly inputs: number; readonly outputs: number },
): Update {
  requireObject(operation, "gradient", gradient);
  const scale = finite(operation, "gradient.scale", gradient.scale);
  const target = arrays.parts(operation, "gradient.target", gradient.target, sizes);
  if (gradient.kind === "add") {
    return {
      onDevice: (part, blockLength) => {
        const own = deviceBlocks(arrays, target[part], blockLength);
        return (index, g) =>
          own.replace(index, computer.run(programs.add, g.length, [own.of(index), g], [scale]));
      },
      onHost: (width) => {
        const weights = arrays.changeOnHost(target.weights);
        return (row, g, start) => {
          const at = row * width;
          for (let i = 0; i < width; i++)
            weights[at + i] = weights[at + i]! + scale * g[start + i]!;
        };
      },
    };
  }
  const { rule, state } = gradient;
  requireObject(operation, "gradient.rule", rule);
  requireObject(operation, "gradient.state", state);
  numberOf(operation, "gradient.rule.name", { adagrad: 0, adam: 0 }, rule.name);
  const needed = stateEntries(operation, gradient);
  const states = state
    .slice(0, needed)
    .map((one, i) => arrays.parts(operation, `gradient.state[${i}]`, one, sizes));
  const numbers = ruleNumbers(operation, gradient);
  return {
    onDevice: (part, blockLength) => {
      const blocksOf = (places: LayerPlaces) => deviceBlocks(arrays, places[part], blockLength);
      const rest = [blocksOf(target), ...states.map(blocksOf)] as const;
      return rule.name === "adagrad"
        ? adagradOnDevice(computer, scale, numbers, rest[0], rest[1]!)
        : adamOnDevice(computer, scale, numbers, rest[0], rest[1]!, rest[2]!);
    },
    onHost: (width) => {
      const own = arrays.changeOnHost(target.weights);
      const [first, second] = states.map(({ weights }) => arrays.changeOnHost(weights));
      return rule.name === "adagrad"
        ? adagradOnHost(width, scale, numbers, own, first!)
        : adamOnHost(width, scale, numbers, own, first!, second!);
    },
  };
}

/** The blocks of a target, each to be replaced by what becomes of it. */
interface DeviceBlocks {
  readonly of: (index: number) => Block;
  readonly replace: (index: number, block: Block) => void;
}

function deviceBlocks(arrays: Arrays, place: Place, blockLength: number): DeviceBlocks {
  return {
    of: (index) => arrays.onDevice(place, place.length, blockLength)[index]!,
    replace: (index, block) => arrays.replaceBlock(place, blockLength, index, block),
  };
}

function adagradOnDevice(
  { run }: Computer,
  scale: number,
  [rate, epsilon]: RuleNumbers,
  target: DeviceBlocks,
  squares: DeviceBlocks,
): DeviceUpdate {
  return (index, g) => {
    const { length } = g;
    squares.replace(index, run(programs.adagradState, length, [squares.of(index), g], [scale]));
    const terms = [target.of(index), g, squares.of(index)];
    target.replace(index, run(programs.adagradStep, length, terms, [scale, rate, epsilon]));
  };
}

function adamOnDevice(
  { run }: Computer,
  scale: number,
  [rate, epsilon, beta1, rest1, beta2, rest2, correction]: RuleNumbers,
  target: DeviceBlocks,
  first: DeviceBlocks,
  second: DeviceBlocks,
): DeviceUpdate {
  const { firstMoment, secondMoment, adamStep } = programs;
  return (index, g) => {
    const { length } = g;
    first.replace(index, run(firstMoment, length, [first.of(index), g], [scale, beta1, rest1]));
    second.replace(index, run(secondMoment, length, [second.of(index), g], [scale, beta2, rest2]));
    const terms = [target.of(index), first.of(index), second.of(index)];
    target.replace(index, run(adamStep, length, terms, [rate, epsilon, correction]));
  };
}

function adagradOnHost(
  width: number,
  scale: number,
  [rate, epsilon]: RuleNumbers,
  target: Float32Array,
  squares: Float32Array,
): HostUpdate {
  return (row, values, start) => {
    const at = row * width;
    for (let i = 0; i < width; i++) {
      const g = scale * values[start + i]!;
      const sum = squares[at + i]! + g * g;
      squares[at + i] = sum;
      target[at + i] = target[at + i]! - (rate * g) / (Math.sqrt(sum) + epsilon);
    }
  };
}

function adamOnHost(
  width: number,
  scale: number,
  [rate, epsilon, beta1, rest1, beta2, rest2, correction]: RuleNumbers,
  target: Float32Array,
  first: Float32Array,
  second: Float32Array,
): HostUpdate {
  return (row, values, start) => {
    const at = row * width;
    for (let i = 0; i < width; i++) {
      const g = scale * values[start + i]!;
      const m = beta1 * first[at + i]! + rest1 * g;
      const v = beta2 * second[at + i]! + rest2 * g * g;
      first[at + i] = m;
      second[at + i] = v;
      target[at + i] = target[at + i]! - (rate * m) / (Math.sqrt(v * correction) + epsilon);
    }
  };
}
