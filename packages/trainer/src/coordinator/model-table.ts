import type { DeviceId, ModelName } from "@heterosgd/scheduler";
import type { ModelMemory } from "../device/api.js";

/**
 * Which memory each model name means at the moment. Devices know models by slot; names move, slots
 * stay.
 */
export interface ModelTable {
  readonly slot: (name: ModelName) => number;
  readonly has: (name: ModelName) => boolean;
  memory(name: ModelName): ModelMemory;
  /** Afterwards `names[0]` means what `names[1]` meant, and so on round. */
  rotate(names: readonly ModelName[]): void;
  /** Takes on models of a device that came later; their slots follow those that there are. */
  add(models: ReadonlyMap<ModelName, ModelMemory>): void;
  /** From now on nobody may mean these models; their slots are not used again. */
  remove(names: readonly ModelName[]): void;
  names(): readonly ModelName[];
  /** All models, by slot. */
  readonly slots: readonly ModelMemory[];
}

export function createModelTable(models: ReadonlyMap<ModelName, ModelMemory>): ModelTable {
  const slots = [...models.values()];
  const slotOf = new Map([...models.keys()].map((name, index) => [name, index]));

  function slot(name: ModelName): number {
    const found = slotOf.get(name);
    if (found === undefined)
      throw new RangeError(`the policy uses a model it did not ask for: ${name}`);
    return found;
  }

  return {
    slot,
    has: (name) => slotOf.has(name),
    slots,
    add(more) {
      for (const [name, model] of more) {
        if (slotOf.has(name)) throw new RangeError(`there is a model ${name} already`);
        slotOf.set(name, slots.push(model) - 1);
      }
    },
    remove(names) {
      for (const name of names) slotOf.delete(name);
    },
    names: () => [...slotOf.keys()],
    memory: (name) => slots[slot(name)] as ModelMemory,
    rotate(names) {
      const old = names.map(slot);
      names.forEach((name, i) => slotOf.set(name, old[(i + 1) % names.length] as number));
    },
  };
}

/** How many of the optimiser's state arrays a model has: all `states`, but an accumulator none. */
export function stateArraysOf(model: ModelName, states: number): number {
  return model.startsWith("gradient:") ? 0 : states;
}

/** The device that a model belongs to, null if it is everybody's. */
export function ownerOf(model: ModelName): DeviceId | null {
  const [, device] = model.split(":");
  return device === undefined ? null : Number(device);
}
