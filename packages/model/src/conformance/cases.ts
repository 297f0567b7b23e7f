import type { DeviceArray, Kernels } from "../kernels/contract.js";

/** One named check; `run` throws an `Error` that says what differs. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

export interface ConformanceOptions {
  /** Largest error allowed, relative to the largest entry of the expected array. Default 1e-4. */
  readonly tolerance?: number;
  /** Seed of the inputs, named in every failure. Default: a new one each time. */
  readonly seed?: number;
}

export function kernelsConformance<A extends DeviceArray, U>(
  create: () => Kernels<A, U> | Promise<Kernels<A, U>>,
  options: ConformanceOptions = {},
): readonly ConformanceCase[] {
  void [create, options];
  return [];
}
