/**
 * A device: kernels, a replica and work buffers, behind `DeviceApi`. It knows neither threads nor
 * algorithms, so the same code runs in a worker and, for replays, in the coordinator's own thread.
 */
import { l2Norm } from "@heterosgd/merge";
import type { DeviceArray, FlatGradientTarget, Kernels } from "@heterosgd/model";
import type {
  DeviceApi,
  DeviceSetup,
  EvaluateCall,
  ModelMemory,
  StepCall,
  StepReply,
} from "./api.js";
import { openDevice, type OpenDevice } from "./open-device.js";
import { load, store, type OwnModel } from "./own-model.js";
import type { BatchSource } from "./batch-feed.js";
import {
  countRows,
  evaluateRows,
  microBatchesRows,
  trainingRows,
  trainMicroBatches,
  trainRows,
  type Trained,
  type TrainingWork,
} from "./row-work.js";
import { createStopwatch, type Activity } from "./stopwatch.js";

export interface DeviceHostOptions {
  /** Makes the kernels named in the set-up. */
  readonly createKernels: (
    setup: DeviceSetup,
  ) => Kernels<DeviceArray, unknown> | Promise<Kernels<DeviceArray, unknown>>;
  /** Seconds from any origin. */
  readonly now: () => number;
  /** Idles for some seconds; how a handicap slows the device down. */
  readonly idle: (seconds: number) => void;
}

/** Of a step, or of what accumulates a gradient. */
type TrainingCall = Pick<StepCall, "rows"> & Partial<Pick<StepCall, "microBatchRows">>;

export function createDeviceHost(options: DeviceHostOptions): DeviceApi {
  let device: OpenDevice | null = null;
  let models: readonly ModelMemory[] = [];
  let ownSlots: readonly number[] = [];
  let stopwatch = createStopwatch(options.now);
  const permutations: Uint32Array[] = [];
  /** The rows of what was asked for and has not begun yet; null while they can't be told. */
  const upcoming: (() => BatchSource | null)[] = [];
  /** Which evaluation's model is on the device, where it needs a copy. */
  let evaluation: number | null = null;
  // Kernels may be asynchronous: without this chain a second call would start inside the first.
  let tail: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = tail.then(work).catch(giveUp);
    tail = result.catch(() => undefined);
    return result;
  }

  /**
   * A device that fails is lost. Its thread ends with no word to the driver, which would keep the memory
   * for as long as the process lives.
   */
  async function giveUp(reason: unknown): Promise<never> {
    if (device !== null && !device.kernels.sharesMemory) {
      const { close } = device;
      device = null;
      await release(close);
    }
    throw reason;
  }

  /** `inTurn`, with the time that it takes put down to an activity. */
  function timed<T>(activity: Activity, work: () => T | Promise<T>): Promise<T> {
    return inTurn(async () => {
      stopwatch.begin();
      try {
        return await work();
      } finally {
        stopwatch.end(activity);
      }
    });
  }

  function opened(): OpenDevice {
    if (device === null) throw new TypeError("the device is not open");
    return device;
  }

  function memory(slot: number): ModelMemory {
    const model = models[slot];
    if (model === undefined) throw new RangeError(`no model in slot ${slot}`);
    return model;
  }

  /** The model in this slot as arrays that kernels can work on. */
  function forKernels(slot: number): OwnModel {
    const { own, kernels } = opened();
    const model = own[ownSlots.indexOf(slot)];
    if (model !== undefined) return model;
    // Kernels in shared memory work on any model in place; others only on what they hold.
    const shared = memory(slot);
    if (!kernels.sharesMemory)
      throw new TypeError(`the model in slot ${slot} is not on the device`);
    return { parameters: shared.parameters, state: shared.state, memory: shared };
  }

  function clear(model: OwnModel): void {
    opened().kernels.blend(model.parameters, []);
    model.memory.updates[0] = 0;
  }

  /** Others' models are copied to where kernels that share no memory can read them. */
  function forEvaluation({ model: slot, evaluation: id }: EvaluateCall): DeviceArray {
    const { evaluated, kernels } = opened();
    if (evaluated === null) return forKernels(slot).parameters;
    if (id !== evaluation) kernels.write(memory(slot).parameters, evaluated);
    evaluation = id;
    return evaluated;
  }

  /** Runs `work` and then idles for as long as the handicap asks. */
  async function handicapped<T>(work: () => Promise<T>): Promise<T> {
    const { speed } = opened().setup;
    const began = options.now();
    const result = await work();
    if (speed < 1) options.idle((options.now() - began) * (1 / speed - 1));
    return result;
  }

  function hasMicroBatches({ setup, network }: OpenDevice): boolean {
    return setup.rule === null && network.trainMicroBatches !== undefined;
  }

  /** A call's rows, the same object whenever they are asked for. */
  function rowsOf({ rows, microBatchRows = null }: TrainingCall): () => BatchSource | null {
    let source: BatchSource | null = null;
    const make = (): BatchSource | null => {
      const own = opened();
      if (rows.some(({ permutation }) => permutations[permutation] === undefined)) return null;
      if (microBatchRows === null) return trainingRows(own, permutations, rows, countRows(rows));
      const inOneCall = hasMicroBatches(own);
      const batchRows = inOneCall ? microBatchesRows(own, microBatchRows) : microBatchRows;
      return trainingRows(own, permutations, rows, batchRows);
    };
    return () => (source ??= make());
  }

  async function training(
    call: TrainingCall,
    train: (work: TrainingWork) => Promise<Trained>,
  ): Promise<StepReply> {
    const rows = rowsOf(call);
    upcoming.push(rows);
    device?.feed.look();
    return inTurn(async () => {
      upcoming.shift();
      stopwatch.begin();
      const { nonZeros, loss } = await handicapped(async () => {
        const source = rows();
        if (source === null) throw new RangeError("the rows are of no permutation that is known");
        return train({ source, following: () => upcoming[0]?.() ?? null });
      });
      const seconds = stopwatch.end("training");
      return { nonZeros, seconds, loss, usage: stopwatch.usage() };
    });
  }

  /** One update of `model` in place: SGD, or the optimiser's rule. */
  function update(
    model: OwnModel,
    rows: number,
    learningRate: number,
  ): FlatGradientTarget<DeviceArray> {
    const { rule } = opened().setup;
    const { parameters: target, state } = model;
    const step = Atomics.add(model.memory.updates, 0, 1) + 1;
    return rule === null
      ? { kind: "add", target, scale: -learningRate / rows }
      : { kind: "rule", target, scale: 1 / rows, rule, learningRate, step, state };
  }

  function trainStep(call: StepCall): Promise<StepReply> {
    const { microBatchRows, learningRate, model: slot } = call;
    return training(call, async (work) => {
      const own = opened();
      const model = forKernels(slot);
      const { parameters } = model;
      if (microBatchRows !== null && hasMicroBatches(own)) {
        Atomics.add(model.memory.updates, 0, Math.ceil(work.source.rows / microBatchRows));
        return trainMicroBatches(own, work, microBatchRows, parameters, learningRate);
      }
      return trainRows(own, work, parameters, (count) => update(model, count, learningRate));
    });
  }

  return {
    open: (setup) =>
      inTurn(async () => {
        const kernels = await options.createKernels(setup);
        try {
          device = openDevice(setup, kernels);
        } catch (error) {
          await release(() => kernels.dispose());
          throw error;
        }
        return { kernels: device.kernels.name, models: device.own.map((model) => model.memory) };
      }),

    attach: (call) =>
      inTurn(() => {
        models = call.models;
        ownSlots = call.own;
        stopwatch = createStopwatch(options.now);
      }),

    addModels: (added) => inTurn(() => void (models = [...models, ...added])),

    addPermutation: (permutation) => inTurn(() => void permutations.push(permutation)),

    step: trainStep,

    // All join the queue at once: no later call comes between them.
    steps: (calls) => Promise.all(calls.map(trainStep)),

    accumulate: (call) =>
      training(call, async (work) => {
        const into = forKernels(call.into);
        if (call.reset) clear(into);
        return trainRows(opened(), work, forKernels(call.model).parameters, () => {
          Atomics.add(into.memory.updates, 0, 1);
          return { kind: "add", target: into.parameters, scale: 1 };
        });
      }),

    pull: (slot) =>
      timed("merging", () => {
        const [replica] = opened().own;
        if (replica === undefined) throw new TypeError("the device holds no replica");
        load(opened().kernels, memory(slot), replica);
        replica.memory.updates[0] = memory(slot).updates[0]!;
      }),

    push: async ({ model, norm: wanted }) => {
      const norm = await timed("merging", async () => {
        const own = forKernels(model);
        await store(opened().kernels, own);
        return wanted ? l2Norm(own.memory.parameters) : null;
      });
      return { norm, usage: stopwatch.usage() };
    },

    refresh: (slot) =>
      timed("merging", () => {
        const { kernels } = opened();
        if (!kernels.sharesMemory) load(kernels, memory(slot), forKernels(slot));
      }),

    apply: async (call) => {
      await timed("merging", async () => {
        const source = forKernels(call.source);
        const target = memory(call.target);
        await store(opened().kernels, source);
        opened().host.blend(target.parameters, [
          { coefficient: 1, source: target.parameters },
          { coefficient: call.scale, source: source.memory.parameters },
        ]);
        Atomics.add(target.updates, 0, source.memory.updates[0]!);
        clear(source);
      });
      return stopwatch.usage();
    },

    blend: async (call) => {
      await timed("merging", () => opened().shards.blend(call, memory));
      return stopwatch.usage();
    },

    copy: async ({ copies, start, end }) => {
      await timed("merging", () => {
        for (const { model: slot, into } of copies) {
          const { parameters, state } = memory(slot);
          into.parameters.set(parameters.subarray(start, end), start);
          into.state.forEach((array, i) => array.set(state[i]!.subarray(start, end), start));
        }
      });
      return stopwatch.usage();
    },

    evaluate: async (call) => {
      const sums = await timed("evaluating", () =>
        handicapped(() => evaluateRows(opened(), forEvaluation(call), call)),
      );
      return { sums, usage: stopwatch.usage() };
    },

    close: () =>
      inTurn(async () => {
        const usage = device === null ? null : stopwatch.usage();
        await device?.close();
        device = null;
        return usage;
      }),
  };
}

/** Gives memory back, as far as the driver still can. */
async function release(giveBack: () => void | Promise<void>): Promise<void> {
  try {
    await giveBack();
  } catch {
    // What went wrong first is what is told.
  }
}
