import type { ParameterLayout } from "../network/layout.js";
import type { ModelShape } from "../network/shape.js";

/** What a model file holds. */
export interface Model {
  readonly shape: ModelShape;
  /** The flat array of parameters, laid out as `parameterLayout(shape)` says. */
  readonly parameters: Float32Array;
  /** A name for each label, or none at all. */
  readonly labelNames?: readonly string[];
  /** Free notes, kept as they are: how the model was trained, on what. */
  readonly info?: Readonly<Record<string, string>>;
}

export interface LoadedModel extends Model {
  readonly layout: ParameterLayout;
  readonly info: Readonly<Record<string, string>>;
}

export interface LoadModelOptions {
  /** Makes the array for the parameters. Default: over shared memory. */
  readonly allocate?: (length: number) => Float32Array;
}

export async function saveModel(path: string, model: Model): Promise<void> {
  void [path, model];
  throw new Error("to be written");
}

export async function loadModel(
  path: string,
  options: LoadModelOptions = {},
): Promise<LoadedModel> {
  void [path, options];
  throw new Error("to be written");
}
