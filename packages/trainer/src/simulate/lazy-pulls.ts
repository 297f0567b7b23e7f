import type { BlendCommand, DeviceId, ModelName } from "@heterosgd/scheduler";
import type { DeviceApi } from "../device/api.js";

/**
 * Copies of models that are not made before somebody changes the copy or what it is of: a gradient
 * is taken at the model itself.
 */
export interface LazyPulls {
  pull(device: DeviceId, slot: number): void;
  /** The slot that holds what `model` means to the device, where that is a copy not made yet. */
  sourceOf(device: DeviceId, model: ModelName): number | null;
  /** Makes the device's copy, if it is not made: it is about to be changed, or read by others. */
  make(device: DeviceId, model?: ModelName): Promise<void>;
  /** Makes all copies of the model in this slot, which is about to be changed. */
  makeAllOf(slot: number): Promise<void>;
  /** Makes what a blend reads and writes, and what its target is to be copied of. */
  makeFor(command: BlendCommand, targetSlot: number): Promise<void>;
}

export function createLazyPulls(hosts: readonly DeviceApi[]): LazyPulls {
  const sources: (number | null)[] = hosts.map(() => null);
  const replica = (device: DeviceId): ModelName => `replica:${device}`;

  async function make(device: DeviceId, model = replica(device)): Promise<void> {
    const source = sources[device] ?? null;
    if (source === null || model !== replica(device)) return;
    sources[device] = null;
    await hosts[device]!.pull(source);
  }

  async function makeAllOf(slot: number): Promise<void> {
    for (const [device, source] of sources.entries()) if (source === slot) await make(device);
  }

  return {
    pull: (device, slot) => void (sources[device] = slot),
    sourceOf: (device, model) => (model === replica(device) ? (sources[device] ?? null) : null),
    make,
    makeAllOf,
    async makeFor({ target, terms, stateTerms }, targetSlot) {
      const models = [target, ...[...terms, ...stateTerms].map(({ model }) => model)];
      for (const device of hosts.keys()) {
        if (models.includes(replica(device))) await make(device);
      }
      await makeAllOf(targetSlot);
    },
  };
}
