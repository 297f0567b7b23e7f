/**
 * What the coordinator and a device's worker say to each other. Only small plain objects travel;
 * the data set, permutations and models are named by slot, and lie in shared memory that both sides
 * see.
 *
 * A device carries calls out one after another, in the order in which they were made.
 */
import type { MetricSums, ModelShape, UpdateRule } from "@heterosgd/model";
import type { KernelsSetup } from "./device-kernels.js";

/** A model's memory, shared by all threads. */
export interface ModelMemory {
  /** All parameters, as `parameterLayout` lays them out. */
  readonly parameters: Float32Array;
  /**
   * The optimiser's state arrays, each as long as `parameters`; none for plain SGD or an
   * accumulator.
   */
  readonly state: readonly Float32Array[];
  /** One element: how many updates the model has received. */
  readonly updates: Int32Array;
}

/** Largest batch a device must hold. */
export interface BatchLimits {
  readonly rows: number;
  readonly nonZeros: number;
  readonly labels: number;
}

export interface DeviceSetup {
  readonly id: number;
  readonly kernels: KernelsSetup;
  /** Fraction of its own speed, in (0, 1]. */
  readonly speed: number;
  readonly shape: ModelShape;
  /** Null for plain SGD. */
  readonly rule: UpdateRule | null;
  /** The training set's buffer, null where the device only evaluates. */
  readonly train: SharedArrayBuffer | null;
  /** The evaluation set's buffer, null where none is evaluated. */
  readonly evaluation: SharedArrayBuffer | null;
  readonly limits: BatchLimits;
  /** Cut-offs of the metrics, ascending. */
  readonly cutoffs: readonly number[];
  /**
   * How many models the device must hold besides the shared ones: its replica, then accumulators.
   */
  readonly replicas: number;
  readonly accumulators: number;
  /** Memory for exactly those, which a lost device held; left out: it takes its own. */
  readonly spare?: readonly ModelMemory[] | undefined;
}

export interface DeviceOpened {
  /** What runs, as the kernels name themselves. */
  readonly kernels: string;
  /** The replicas, then the accumulators. */
  readonly models: readonly ModelMemory[];
}

export interface AttachCall {
  /** Every model's memory, by slot. */
  readonly models: readonly ModelMemory[];
  /** The slots of the device's own models, in the order in which `open` returned them. */
  readonly own: readonly number[];
}

/** `count` rows of the permutation in slot `permutation`, from position `start`. */
export interface RowSpan {
  readonly permutation: number;
  readonly start: number;
  readonly count: number;
}

export interface StepCall {
  readonly rows: readonly RowSpan[];
  readonly microBatchRows: number | null;
  readonly learningRate: number;
  readonly model: number;
}

export interface AccumulateCall {
  readonly rows: readonly RowSpan[];
  readonly model: number;
  readonly into: number;
  /** Whether `into` is zeroed first. */
  readonly reset: boolean;
}

export interface PushCall {
  readonly model: number;
  readonly norm: boolean;
}

export interface ApplyCall {
  readonly source: number;
  readonly target: number;
  readonly scale: number;
}

export interface ModelTerm {
  readonly model: number;
  readonly coefficient: number;
}

/**
 * What a shard that changes its own terms has come to, in shared memory: another device can carry
 * it on.
 */
export interface BlendJournal {
  /** The results of the block put down last, and of the one in work. */
  readonly results: Float32Array;
  /** One element: how many blocks' results have been put down. */
  readonly blocks: Int32Array;
}

/** One shard of a blend: elements `start` (inclusive) to `end` (exclusive) of every array. */
export interface BlendCall {
  readonly target: number;
  readonly terms: readonly ModelTerm[];
  readonly stateTerms: readonly ModelTerm[];
  readonly start: number;
  readonly end: number;
  /** Where the target is among the terms; null where the shard can simply be done again. */
  readonly journal: BlendJournal | null;
}

/** Elements `start` (inclusive) to `end` (exclusive) of every array of some models. */
export interface CopyCall {
  /** Each model, which is readable, and the memory that it is copied to, as large as its own. */
  readonly copies: readonly {
    readonly model: number;
    readonly into: Pick<ModelMemory, "parameters" | "state">;
  }[];
  readonly start: number;
  readonly end: number;
}

export interface EvaluateCall {
  readonly model: number;
  /** Which evaluation it is a part of: from its first call to its last one nobody changes the model. */
  readonly evaluation: number;
  /** Rows of the evaluation set, in file order. */
  readonly start: number;
  readonly count: number;
}

/**
 * Where a device's time went, in seconds since its first command. `training` and `evaluating`
 * include a handicap's idling; `waiting` is time with nothing to do.
 */
export interface DeviceUsage {
  readonly training: number;
  readonly merging: number;
  readonly evaluating: number;
  readonly waiting: number;
}

export interface StepReply {
  readonly nonZeros: number;
  readonly seconds: number;
  /** Sum of the rows' losses; not finite if the parameters have diverged. */
  readonly loss: number;
  readonly usage: DeviceUsage;
}

export interface PushReply {
  readonly norm: number | null;
  readonly usage: DeviceUsage;
}

export interface EvaluateReply {
  readonly sums: MetricSums;
  readonly usage: DeviceUsage;
}

/** The protocol: one object of this type lives in every device's worker. */
export interface DeviceApi {
  open(setup: DeviceSetup): Promise<DeviceOpened>;
  /** Makes all models known, once every device is open. */
  attach(call: AttachCall): Promise<void>;
  /** Adds models of devices that came later; their slots follow those of the models before. */
  addModels(models: readonly ModelMemory[]): Promise<void>;
  /** Adds a permutation of the training rows; its slot is the number of those before it. */
  addPermutation(permutation: Uint32Array): Promise<void>;
  step(call: StepCall): Promise<StepReply>;
  /** Several steps, one after another, in one message. */
  steps(calls: readonly StepCall[]): Promise<StepReply[]>;
  accumulate(call: AccumulateCall): Promise<StepReply>;
  /** Copies a model into the device's first replica. */
  pull(model: number): Promise<void>;
  /** Makes one of the device's own models readable by others. */
  push(call: PushCall): Promise<PushReply>;
  /** Takes over what others have written to one of the device's own models. */
  refresh(model: number): Promise<void>;
  apply(call: ApplyCall): Promise<DeviceUsage>;
  blend(call: BlendCall): Promise<DeviceUsage>;
  /** Copies a part of models into other memory. */
  copy(call: CopyCall): Promise<DeviceUsage>;
  evaluate(call: EvaluateCall): Promise<EvaluateReply>;
  /** Ends the device's work and gives its memory back; the worker then ends by itself. */
  close(): Promise<DeviceUsage | null>;
}
