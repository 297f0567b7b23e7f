import type { DeviceInfo, ModelName, Term } from "../contract.js";

type Identified = Pick<DeviceInfo, "id">;

/** One replica a device. */
export function replicasOf(devices: readonly Identified[]): readonly ModelName[] {
  return devices.map(({ id }) => `replica:${id}` as const);
}

/** One replica and one accumulator a device: gradients are computed at replicas. */
export function replicasAndGradientsOf(devices: readonly Identified[]): readonly ModelName[] {
  return devices.flatMap(({ id }) => [`replica:${id}`, `gradient:${id}:0`] as const);
}

/** Each device's replica, by the coefficient. */
export function replicaTerms(devices: readonly Identified[], coefficient: number): readonly Term[] {
  return devices.map(({ id }) => ({ model: `replica:${id}`, coefficient }));
}

/** Terms without those of no weight. */
export function nonZero(terms: readonly Term[]): readonly Term[] {
  return terms.filter((term) => term.coefficient !== 0);
}

/** The global model's optimiser state, kept as it is. */
export const globalState: readonly Term[] = [{ model: "global", coefficient: 1 }];
