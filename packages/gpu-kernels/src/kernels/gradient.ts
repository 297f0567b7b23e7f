import type { GradientTarget } from "@heterosgd/model";
import { fail, finite, numberOf, requireObject, whole } from "../checks.js";
import type { GpuArgument } from "../driver.js";
import type { Arrays, GpuArray, LayerPlaces } from "./arrays.js";
import { beyond, f32, pointer, u32 } from "./launch.js";

/** A gradient's target as the kernels' `UPDATE_PARAMETERS` (`update.cu`). */
export interface Update {
  /** For a part of the target, `start` elements on. */
  readonly of: (part: "weights" | "bias", start?: number) => readonly GpuArgument[];
}

const ruleNumbers = { add: 0, adagrad: 1, adam: 2 } as const;

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
    return updateOf(target, target, target, [ruleNumbers.add, scale, 0, 1, 0, 0, 0, 0, 0]);
  }
  const { rule, state } = gradient;
  requireObject(operation, "gradient.rule", rule);
  requireObject(operation, "gradient.state", state);
  const { adagrad, adam } = ruleNumbers;
  const number = numberOf(operation, "gradient.rule.name", { adagrad, adam }, rule.name);
  const needed = rule.name === "adam" ? 2 : 1;
  if (state.length < needed) {
    fail(
      "KERNEL_ARGUMENT",
      operation,
      `gradient.state has ${state.length} entries, ${rule.name} needs ${needed}`,
    );
  }
  const [first, second] = state
    .slice(0, needed)
    .map((one, i) => arrays.parts(operation, `gradient.state[${i}]`, one, sizes));
  const numbers = ruleNumbersOf(operation, gradient);
  return updateOf(target, first!, second ?? first!, [number, scale, ...numbers]);
}

/** Rate, ε, and Adam's β₁, 1 − β₁, β₂, 1 − β₂ and 1 / (1 − β₂^step). */
type RuleNumbers = readonly [number, number, number, number, number, number, number];

function ruleNumbersOf(
  operation: string,
  gradient: GradientTarget<GpuArray> & { readonly kind: "rule" },
): RuleNumbers {
  const { rule } = gradient;
  const rate = finite(operation, "gradient.learningRate", gradient.learningRate);
  const epsilon = finite(operation, "gradient.rule.epsilon", rule.epsilon);
  if (!(Math.fround(epsilon) > 0)) {
    const expected = "expected it to be above 0 in float32";
    fail("KERNEL_ARGUMENT", operation, `gradient.rule.epsilon is ${epsilon}, ${expected}`);
  }
  if (rule.name === "adagrad") return [rate, epsilon, 0, 0, 0, 0, 0];
  const { beta1, beta2 } = rule;
  const step = whole(operation, "gradient.step", gradient.step, 1);
  if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1)) {
    fail(
      "KERNEL_ARGUMENT",
      operation,
      `gradient.rule has beta1 ${beta1} and beta2 ${beta2}, expected both from 0 to below 1`,
    );
  }
  const own = rate / (1 - beta1 ** step);
  return [own, epsilon, beta1, 1 - beta1, beta2, 1 - beta2, 1 / (1 - beta2 ** step)];
}

function updateOf(
  target: LayerPlaces,
  first: LayerPlaces,
  second: LayerPlaces,
  [rule, ...numbers]: readonly [number, number, ...RuleNumbers],
): Update {
  const rest = [u32(rule), ...numbers.map(f32)];
  return {
    of: (part, start = 0) => [
      pointer(beyond(target[part], start)),
      pointer(beyond(first[part], start)),
      pointer(beyond(second[part], start)),
      ...rest,
    ],
  };
}
