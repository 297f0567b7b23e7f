import {
  createNetwork,
  createTopK,
  optimizerStateArrays,
  parameterLayout,
  type DeviceArray,
  type Kernels,
  type Network,
  type TopK,
} from "@heterosgd/model";
import { createBatchBuffers, datasetFrom, type Dataset } from "@heterosgd/sparse";
import type { DeviceSetup } from "./api.js";
import { createBatchFeed, feedBuffers, type BatchFeed } from "./batch-feed.js";
import { createShardBlender, type ShardBlender } from "./blend-shard.js";
import { createHostKernels } from "./device-kernels.js";
import { allocateMirror } from "./kernel-memory.js";
import { takeModel, type OwnModel } from "./own-model.js";

/** All that a device has from being opened to being closed; every buffer is taken here. */
export interface OpenDevice {
  readonly setup: DeviceSetup;
  readonly kernels: Kernels<DeviceArray, unknown>;
  /** Kernels that work on models in shared memory: its own, unless they only know their own arrays. */
  readonly host: Kernels;
  /** Gives all its memory back. */
  readonly close: () => Promise<void>;
  readonly shards: ShardBlender;
  readonly network: Network<DeviceArray, unknown>;
  readonly feed: BatchFeed;
  readonly train: Dataset | null;
  readonly evaluation: Dataset | null;
  /** Row ids 0, 1, 2 …: the evaluation set is read in file order. */
  readonly evaluationOrder: Uint32Array;
  /** Largest cut-off of the metrics. */
  readonly k: number;
  readonly top: TopK;
  /** Replicas, then accumulators. */
  readonly own: readonly OwnModel[];
  /** Where others' models are evaluated; null where they are evaluated in place, or none is. */
  readonly evaluated: DeviceArray | null;
}

export function openDevice(setup: DeviceSetup, kernels: Kernels<DeviceArray, unknown>): OpenDevice {
  const layout = parameterLayout(setup.shape);
  const evaluation = setup.evaluation && datasetFrom(setup.evaluation, { trusted: true });
  const k = setup.cutoffs.at(-1) ?? 1;
  const host = kernels.sharesMemory ? (kernels as Kernels) : createHostKernels(setup.kernels);
  const states = optimizerStateArrays(setup.rule);
  return {
    setup,
    kernels,
    host,
    async close() {
      await kernels.dispose();
      if (!kernels.sharesMemory) await host.dispose();
    },
    shards: createShardBlender(
      (target, terms) => host.blend(target, terms),
      (length) => host.allocate(length),
    ),
    network: createNetwork(kernels, layout, { maxRows: setup.limits.rows }),
    feed: createBatchFeed(
      kernels,
      Array.from({ length: feedBuffers(kernels) }, () => createBatchBuffers(setup.limits)),
    ),
    train: setup.train && datasetFrom(setup.train, { trusted: true }),
    evaluation,
    evaluationOrder: Uint32Array.from({ length: evaluation?.rows ?? 0 }, (_, row) => row),
    k,
    top: createTopK(setup.limits.rows, k),
    own: Array.from({ length: setup.replicas + setup.accumulators }, (_, i) =>
      takeModel(kernels, {
        length: layout.length,
        states: i < setup.replicas ? states : 0,
        spare: setup.spare?.[i],
        allocate: (length) => allocateMirror(setup.kernels, length),
      }),
    ),
    evaluated: kernels.sharesMemory || evaluation === null ? null : kernels.allocate(layout.length),
  };
}
