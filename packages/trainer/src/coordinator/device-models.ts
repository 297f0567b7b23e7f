import { parameterLayout, type ModelShape, type UpdateRule } from "@heterosgd/model";
import type { DeviceId, ModelName } from "@heterosgd/scheduler";
import type { AttachCall, DeviceOpened, ModelMemory } from "../device/api.js";
import { takeSharedModel, type KernelMemory } from "../device/kernel-memory.js";
import { createModelTable, type ModelTable } from "./model-table.js";

/**
 * The models of device `id` among `names`, in the order in which the device is asked to hold them.
 */
export function ownModels(names: readonly ModelName[], id: DeviceId): ModelName[] {
  const candidates: ModelName[] = [`replica:${id}`, `gradient:${id}:0`, `gradient:${id}:1`];
  return candidates.filter((name) => names.includes(name));
}

/** What device `id` must know to work with all models. */
export function attachCall(
  table: ModelTable,
  names: readonly ModelName[],
  id: DeviceId,
): AttachCall {
  return { models: table.slots, own: ownModels(names, id).map((name) => table.slot(name)) };
}

/** How many models of each kind device `id` must hold. */
export function ownModelCounts(
  names: readonly ModelName[],
  id: DeviceId,
): { readonly replicas: number; readonly accumulators: number } {
  const own = ownModels(names, id);
  const replicas = own.filter((name) => name.startsWith("replica:")).length;
  return { replicas, accumulators: own.length - replicas };
}

/** Takes the memory of the models that belong to no device. @throws CpuKernelsError KERNEL_MEMORY */
export function takeSharedModels(
  names: readonly ModelName[],
  shape: ModelShape,
  rule: UpdateRule | null,
  memory: KernelMemory,
): ReadonlyMap<ModelName, ModelMemory> {
  const { length } = parameterLayout(shape);
  const shared = names.filter((name) => !name.includes(":"));
  return new Map(shared.map((name) => [name, takeSharedModel(memory, length, rule)]));
}

/** The models that device `id` has opened with, by name. */
export function openedModels(
  names: readonly ModelName[],
  id: DeviceId,
  { models }: DeviceOpened,
): ReadonlyMap<ModelName, ModelMemory> {
  return new Map(ownModels(names, id).map((name, i) => [name, models[i]!]));
}

/** All models: those that the devices hold, and the others. */
export function collectModels(
  names: readonly ModelName[],
  opened: readonly DeviceOpened[],
  shared: ReadonlyMap<ModelName, ModelMemory>,
): ModelTable {
  const own = opened.flatMap((device, id) => [...openedModels(names, id, device)]);
  return createModelTable(new Map([...own, ...shared]));
}
