import type { GradientTarget, LayerArrays } from "../contract.js";
import type { FloatArray } from "./arrays.js";

/**
 * Lets `count` elements of a gradient (before `scale`) take effect on the target from element
 * `start` on.
 *
 * Adagrad: Duchi, Hazan, Singer 2011. Adam: Kingma, Ba 2015, Algorithm 1. In both, ε is added to
 * the root.
 */
export function applyGradient<A extends FloatArray>(
  gradient: GradientTarget<A>,
  part: keyof LayerArrays,
  start: number,
  values: A,
  count: number,
): void {
  const { scale } = gradient;
  const target = gradient.target[part];
  if (gradient.kind === "add") {
    for (let i = 0; i < count; i++) target[start + i] = target[start + i]! + scale * values[i]!;
    return;
  }

  const { rule, learningRate, step, state } = gradient;
  const { epsilon } = rule;
  if (rule.name === "adagrad") {
    const squares = state[0]![part];
    for (let i = 0; i < count; i++) {
      const g = scale * values[i]!;
      const sum = squares[start + i]! + g * g;
      squares[start + i] = sum;
      target[start + i] = target[start + i]! - (learningRate * g) / (Math.sqrt(sum) + epsilon);
    }
    return;
  }

  const { beta1, beta2 } = rule;
  const first = state[0]![part];
  const second = state[1]![part];
  const rate = learningRate / (1 - beta1 ** step);
  const correction = 1 / (1 - beta2 ** step);
  for (let i = 0; i < count; i++) {
    const g = scale * values[i]!;
    const m = beta1 * first[start + i]! + (1 - beta1) * g;
    const v = beta2 * second[start + i]! + (1 - beta2) * g * g;
    first[start + i] = m;
    second[start + i] = v;
    target[start + i] = target[start + i]! - (rate * m) / (Math.sqrt(v * correction) + epsilon);
  }
}
