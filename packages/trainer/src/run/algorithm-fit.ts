import type { UpdateRule } from "@heterosgd/model";
import { algorithms, type Policy } from "@heterosgd/scheduler";
import { TrainerError } from "../errors.js";

/**
 * Refuses an optimiser with a state where the algorithm adds gradients up by itself.
 *
 * @throws TrainerError BAD_OPTION
 */
export function requireOptimizer({ name }: Pick<Policy, "name">, rule: UpdateRule | null): void {
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined;
  if (rule === null || algorithm?.optimizer !== "sgd") return;
  throw new TrainerError(
    "BAD_OPTION",
    `${name} adds gradients to the model, for which there is no ${rule.name}; take plain SGD`,
  );
}
