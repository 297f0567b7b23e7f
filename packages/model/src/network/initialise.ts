import type { ParameterLayout } from "./layout.js";

export interface InitialiseOptions {
  /** Multiplies every initial weight. Default 1. */
  readonly scale?: number;
}

/** Fills `flat` with the network's initial parameters, a function of the layout, the seed and the options alone. */
export function initialise(
  layout: ParameterLayout,
  flat: Float32Array,
  seed: number,
  options: InitialiseOptions = {},
): void {
  void [layout, flat, seed, options];
  throw new Error("to be written");
}
