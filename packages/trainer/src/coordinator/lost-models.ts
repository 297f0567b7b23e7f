/**
 * Memory of lost devices' models, for devices that come later. It may be had once the policy has heard of the
 * loss, as it then names them no more, and nothing that was asked for earlier is still to read them.
 */
import type { DeviceId, ModelName } from "@heterosgd/scheduler";
import type { ModelMemory } from "../device/api.js";
import { ownModels } from "./device-models.js";
import type { ModelTable } from "./model-table.js";

export interface LostModels {
  /** The models of these names are read or written until the function returned is called. */
  hold(names: readonly ModelName[]): () => void;
  /** The policy has been told of the loss. */
  heard(device: DeviceId): void;
  /**
   * Takes the memory of a lost device that has as many models of each kind out of the table.
   *
   * @returns undefined where there is none.
   */
  release(counts: {
    readonly replicas: number;
    readonly accumulators: number;
  }): readonly ModelMemory[] | undefined;
}

export function createLostModels(models: ModelTable): LostModels {
  /** How many hold a slot. */
  const holders = new Map<number, number>();
  const gone = new Set<DeviceId>();

  function change(slots: readonly number[], by: number): void {
    for (const slot of slots) {
      const count = (holders.get(slot) ?? 0) + by;
      if (count > 0) holders.set(slot, count);
      else holders.delete(slot);
    }
  }

  return {
    hold(names) {
      const slots = names.map(models.slot);
      change(slots, 1);
      return () => change(slots, -1);
    },
    heard: (device) => void gone.add(device),
    release({ replicas, accumulators }) {
      for (const device of gone) {
        const names = ownModels(models.names(), device);
        const own = names.filter((name) => name.startsWith("replica:")).length;
        if (own !== replicas || names.length !== replicas + accumulators) continue;
        if (names.some((name) => holders.has(models.slot(name)))) continue;
        const memory = names.map((name) => models.memory(name));
        models.remove(names);
        gone.delete(device);
        return memory;
      }
      return undefined;
    },
  };
}
