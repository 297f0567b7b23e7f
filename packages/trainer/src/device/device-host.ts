/**
 * A device: kernels, a replica and work buffers, behind `DeviceApi`. It knows neither threads nor
 * algorithms, so the same code runs in a worker and, for replays, in the coordinator's own thread.
 */
import {
  addMetrics,
  createMetrics,
  createNetwork,
  createTopK,
  optimizerStateArrays,
  parameterLayout,
  type DeviceArray,
  type FlatGradientTarget,
  type Kernels,
  type MetricSums,
  type Network,
  type ParameterLayout,
  type TopK,
} from "@heterosgd/model";
import { addScaled, l2Norm, weightedSum } from "@heterosgd/merge";
import {
  createBatchBuffers,
  datasetFrom,
  gatherBatch,
  type BatchBuffers,
  type Dataset,
} from "@heterosgd/sparse";
import type {
  AccumulateCall,
  ApplyCall,
  BlendCall,
  DeviceApi,
  DeviceOpened,
  DeviceSetup,
  EvaluateCall,
  ModelMemory,
  ModelTerm,
  RowSpan,
  StepCall,
  StepReply,
} from "./api.js";
import { createStopwatch, type Stopwatch } from "./stopwatch.js";

export interface DeviceHostOptions {
  /** Makes the kernels named in the set-up. */
  readonly createKernels: (setup: DeviceSetup) => Kernels<DeviceArray, unknown>;
  /** Seconds from any origin. */
  readonly now: () => number;
  /** Idles for some seconds; how a handicap slows the device down. */
  readonly idle: (seconds: number) => void;
}

/** A model that this device holds: its arrays for the kernels, and the memory that others see. */
interface OwnModel {
  readonly parameters: DeviceArray;
  readonly state: readonly DeviceArray[];
  readonly memory: ModelMemory;
}

interface Open {
  readonly setup: DeviceSetup;
  readonly kernels: Kernels<DeviceArray, unknown>;
  readonly layout: ParameterLayout;
  readonly network: Network<DeviceArray, unknown>;
  readonly batch: BatchBuffers;
  readonly train: Dataset | null;
  readonly evaluation: Dataset | null;
  readonly own: readonly OwnModel[];
  readonly top: TopK;
  /** Largest cut-off of the metrics that the labels allow. */
  readonly k: number;
}

/** Row ids 0, 1, 2 …: the evaluation set is read in file order. */
function fileOrder(rows: number): Uint32Array {
  return Uint32Array.from({ length: rows }, (_, row) => row);
}

export function createDeviceHost(options: DeviceHostOptions): DeviceApi {
  let open: Open | null = null;
  let models: readonly ModelMemory[] = [];
  let ownSlots: readonly number[] = [];
  let stopwatch: Stopwatch = createStopwatch(options.now);
  const permutations: Uint32Array[] = [];
  let evaluationOrder: Uint32Array = new Uint32Array(0);
  // Kernels may be asynchronous: without this chain a second call would start inside the first.
  let tail: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  }

  function opened(): Open {
    if (open === null) throw new TypeError("the device is not open");
    return open;
  }

  function memory(slot: number): ModelMemory {
    const model = models[slot];
    if (model === undefined) throw new RangeError(`no model in slot ${slot}`);
    return model;
  }

  /** The model in this slot as arrays that kernels can work on. */
  function forKernels(slot: number): OwnModel {
    const own = opened().own[ownSlots.indexOf(slot)];
    if (own !== undefined) return own;
    // Kernels in host memory work on any model in place; others only on what they hold.
    const shared = memory(slot);
    if (!worksOnHost(opened()))
      throw new TypeError(`the model in slot ${slot} is not on the device`);
    return { parameters: shared.parameters, state: shared.state, memory: shared };
  }

  function fillBatch(spans: readonly RowSpan[], from: number, count: number): BatchBuffers {
    const { batch, train } = opened();
    if (train === null) throw new TypeError("the device was opened without training rows");
    let skipped = 0;
    let filled = 0;
    for (const span of spans) {
      const first = Math.max(from - skipped, 0);
      const take = Math.min(span.count - first, count - filled);
      if (take > 0) {
        const permutation = permutations[span.permutation];
        if (permutation === undefined) throw new RangeError(`no permutation ${span.permutation}`);
        gatherBatch(train, permutation, span.start + first, take, batch, filled);
        filled += take;
      }
      skipped += span.count;
    }
    return batch;
  }

  async function trainRows(
    spans: readonly RowSpan[],
    microBatchRows: number | null,
    weights: OwnModel,
    destination: (rows: number) => FlatGradientTarget<DeviceArray>,
  ): Promise<{ nonZeros: number; loss: number }> {
    const { kernels, network, setup } = opened();
    const rows = spans.reduce((sum, span) => sum + span.count, 0);
    const step = Math.min(microBatchRows ?? rows, setup.limits.rows);
    let nonZeros = 0;
    let loss = 0;
    for (let from = 0; from < rows; from += step) {
      const batch = fillBatch(spans, from, Math.min(step, rows - from));
      const uploaded = kernels.upload(batch, 0);
      loss += await network.train(
        uploaded,
        batch.rows,
        weights.parameters,
        destination(batch.rows),
      );
      nonZeros += batch.offsets[batch.rows] ?? 0;
    }
    return { nonZeros, loss };
  }

  /** Runs `work` and then idles for as long as the handicap asks. */
  async function handicapped<T>(work: () => Promise<T>): Promise<T> {
    const { speed } = opened().setup;
    const began = options.now();
    const result = await work();
    if (speed < 1) options.idle((options.now() - began) * (1 / speed - 1));
    return result;
  }

  async function timedStep(
    work: () => Promise<{ nonZeros: number; loss: number }>,
  ): Promise<StepReply> {
    stopwatch.begin();
    const { nonZeros, loss } = await handicapped(work);
    const seconds = stopwatch.end("training");
    return { nonZeros, seconds, loss, usage: stopwatch.usage() };
  }

  return {
    open: (setup) =>
      inTurn((): DeviceOpened => {
        open = openDevice(setup, options.createKernels(setup));
        evaluationOrder = fileOrder(open.evaluation?.rows ?? 0);
        return { kernels: open.kernels.name, models: open.own.map((model) => model.memory) };
      }),

    attach: (call) =>
      inTurn(() => {
        ({ models, own: ownSlots } = call);
        stopwatch = createStopwatch(options.now);
      }),

    addPermutation: (permutation) => inTurn(() => void permutations.push(permutation)),

    step: (call: StepCall) =>
      inTurn(() =>
        timedStep(() => {
          const { setup } = opened();
          const model = forKernels(call.model);
          return trainRows(call.rows, call.microBatchRows, model, (rows) => {
            const step = Atomics.add(model.memory.updates, 0, 1) + 1;
            return setup.rule === null
              ? { kind: "add", target: model.parameters, scale: -call.learningRate / rows }
              : {
                  kind: "rule",
                  target: model.parameters,
                  scale: 1 / rows,
                  rule: setup.rule,
                  learningRate: call.learningRate,
                  step,
                  state: model.state,
                };
          });
        }),
      ),

    accumulate: (call: AccumulateCall) =>
      inTurn(() =>
        timedStep(() => {
          const into = forKernels(call.into);
          return trainRows(call.rows, null, forKernels(call.model), () => {
            Atomics.add(into.memory.updates, 0, 1);
            return { kind: "add", target: into.parameters, scale: 1 };
          });
        }),
      ),

    pull: (slot) =>
      inTurn(() => {
        stopwatch.begin();
        const { kernels, own } = opened();
        const source = memory(slot);
        const [replica] = own;
        if (replica === undefined) throw new TypeError("the device holds no replica");
        kernels.write(source.parameters, replica.parameters);
        source.state.forEach((array, i) => kernels.write(array, replica.state[i] as DeviceArray));
        replica.memory.updates[0] = source.updates[0] as number;
        stopwatch.end("merging");
      }),

    push: ({ norm }) =>
      inTurn(async () => {
        stopwatch.begin();
        const { own, kernels } = opened();
        const [replica] = own;
        if (replica === undefined) throw new TypeError("the device holds no replica");
        if (!worksOnHost(opened())) {
          await kernels.read(replica.parameters, replica.memory.parameters);
          for (const [i, array] of replica.state.entries()) {
            await kernels.read(array, replica.memory.state[i] as Float32Array);
          }
        }
        const length = norm ? l2Norm(replica.memory.parameters) : null;
        stopwatch.end("merging");
        return { norm: length, usage: stopwatch.usage() };
      }),

    apply: (call: ApplyCall) =>
      inTurn(async () => {
        stopwatch.begin();
        const source = memory(call.source);
        const own = forKernels(call.source);
        if (!worksOnHost(opened())) {
          await opened().kernels.read(own.parameters, source.parameters);
        }
        addScaled(memory(call.target).parameters, source.parameters, call.scale);
        opened().kernels.blend(own.parameters, []);
        const target = memory(call.target).updates;
        Atomics.add(target, 0, Atomics.exchange(source.updates, 0, 0));
        stopwatch.end("merging");
        return stopwatch.usage();
      }),

    blend: (call: BlendCall) =>
      inTurn(() => {
        stopwatch.begin();
        blendShard(call, memory);
        stopwatch.end("merging");
        return stopwatch.usage();
      }),

    evaluate: (call: EvaluateCall) =>
      inTurn(async () => {
        stopwatch.begin();
        const sums = await handicapped(() =>
          evaluateRows(opened(), forKernels(call.model).parameters, evaluationOrder, call),
        );
        stopwatch.end("evaluating");
        return { sums, usage: stopwatch.usage() };
      }),

    close: () =>
      inTurn(async () => {
        const usage = open === null ? null : stopwatch.usage();
        await open?.kernels.dispose();
        open = null;
        return usage;
      }),
  };
}

function worksOnHost(open: Open): boolean {
  return open.own.every((model) => model.parameters instanceof Float32Array);
}

function openDevice(setup: DeviceSetup, kernels: Kernels<DeviceArray, unknown>): Open {
  const layout = parameterLayout(setup.shape);
  const own: OwnModel[] = [];
  for (let i = 0; i < setup.replicas + setup.accumulators; i++) {
    own.push(
      takeModel(kernels, layout.length, i < setup.replicas ? optimizerStateArrays(setup.rule) : 0),
    );
  }
  const train = setup.train && datasetFrom(setup.train);
  const evaluation = setup.evaluation && datasetFrom(setup.evaluation);
  const k = Math.min(setup.cutoffs.at(-1) ?? 1, setup.shape.labels);
  return {
    setup,
    kernels,
    layout,
    network: createNetwork(kernels, layout, { maxRows: setup.limits.rows }),
    batch: createBatchBuffers(setup.limits),
    train,
    evaluation,
    own,
    top: createTopK(setup.limits.rows, k),
    k,
  };
}

function takeModel(
  kernels: Kernels<DeviceArray, unknown>,
  length: number,
  states: number,
): OwnModel {
  const parameters = kernels.allocate(length);
  const state = Array.from({ length: states }, () => kernels.allocate(length));
  return {
    parameters,
    state,
    memory: {
      parameters: sharedView(parameters),
      state: state.map(sharedView),
      updates: new Int32Array(new SharedArrayBuffer(4)),
    },
  };
}

/** The array itself where it lies in shared host memory, else room in shared memory for a copy of it. */
function sharedView(array: DeviceArray): Float32Array {
  return array instanceof Float32Array
    ? array
    : new Float32Array(new SharedArrayBuffer(array.length * 4));
}

function blendShard(call: BlendCall, memory: (slot: number) => ModelMemory): void {
  const target = memory(call.target);
  const sum = (
    into: Float32Array,
    terms: readonly ModelTerm[],
    pick: (m: ModelMemory) => Float32Array,
  ) =>
    weightedSum(
      into,
      terms.map((term) => pick(memory(term.model))),
      terms.map((term) => term.coefficient),
      call.start,
      call.end,
    );
  sum(target.parameters, call.terms, (model) => model.parameters);
  target.state.forEach((array, i) =>
    sum(array, call.stateTerms, (model) => model.state[i] as Float32Array),
  );
}

async function evaluateRows(
  open: Open,
  weights: DeviceArray,
  order: Uint32Array,
  call: EvaluateCall,
): Promise<MetricSums> {
  const { evaluation, setup, batch, kernels, network, top, k } = open;
  if (evaluation === null) throw new TypeError("the device was opened without evaluation rows");
  const sums = createMetrics(setup.cutoffs);
  const end = call.start + call.count;
  for (let start = call.start; start < end; start += setup.limits.rows) {
    const count = Math.min(setup.limits.rows, end - start);
    gatherBatch(evaluation, order, start, count, batch);
    await network.predict(kernels.upload(batch, 0), count, weights, k, top);
    addMetrics(sums, batch, top.ids, k);
  }
  return sums;
}
