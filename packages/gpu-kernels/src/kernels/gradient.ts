import type { GradientTarget, RuleNumbers } from "@heterosgd/model";
import { finite, numberOf, requireObject, ruleNumbers, stateEntries } from "../checks.js";
import type { GpuArgument, GpuPointer } from "../driver.js";
import type { Arrays, GpuArray, LayerPlaces } from "./arrays.js";
import { beyond, f32, pointer, u32 } from "./launch.js";

/** A gradient's target as the kernels' `UPDATE_PARAMETERS` (`update.cu`). */
export interface Update {
  /** What the gradient is multiplied by where it is simply added to the target; null under a rule. */
  readonly adds: number | null;
  readonly target: (part: "weights" | "bias", start?: number) => GpuPointer;
  /** For a part of the target, `start` elements on. */
  readonly of: (part: "weights" | "bias", start?: number) => readonly GpuArgument[];
}

const updateNumbers = { add: 0, adagrad: 1, adam: 2 } as const;

/** Checks a gradient's target, for a layer of these sizes. */
export function readGradient(
  arrays: Arrays,
  operation: string,
  gradient: GradientTarget<GpuArray>,
  sizes: { readonly inputs: number; readonly outputs: number },
): Update {
  requireObject(operation, "gradient", gradient);
  const scale = finite(operation, "gradient.scale", gradient.scale);
  const target = arrays.parts(operation, "gradient.target", gradient.target, sizes);
  if (gradient.kind === "add") {
    // A pointer to something, which is not looked at.
    return updateOf(target, target, target, [updateNumbers.add, scale, 0, 1, 0, 0, 0, 0, 0]);
  }
  const { rule, state } = gradient;
  requireObject(operation, "gradient.rule", rule);
  requireObject(operation, "gradient.state", state);
  const { adagrad, adam } = updateNumbers;
  const number = numberOf(operation, "gradient.rule.name", { adagrad, adam }, rule.name);
  const needed = stateEntries(operation, gradient);
  const [first, second] = state
    .slice(0, needed)
    .map((one, i) => arrays.parts(operation, `gradient.state[${i}]`, one, sizes));
  const numbers = ruleNumbers(operation, gradient);
  return updateOf(target, first!, second ?? first!, [number, scale, ...numbers]);
}

function updateOf(
  target: LayerPlaces,
  first: LayerPlaces,
  second: LayerPlaces,
  [rule, ...numbers]: readonly [number, number, ...RuleNumbers],
): Update {
  const rest = [u32(rule), ...numbers.map(f32)];
  return {
    adds: rule === updateNumbers.add ? numbers[0] : null,
    target: (part, start = 0) => beyond(target[part], start),
    of: (part, start = 0) => [
      pointer(beyond(target[part], start)),
      pointer(beyond(first[part], start)),
      pointer(beyond(second[part], start)),
      ...rest,
    ],
  };
}
