/**
 * Repeats a run in this thread from its recorded events: the same policy, fed the same events in
 * the same order, over the same device code. Each device carries its commands out in the order in
 * which they were issued, and the recorded answers say how far it had come. The parameters come out
 * equal to the last bit, whatever the timing of the real run was.
 */
import { initialise, parameterLayout, rowNorm } from "@heterosgd/model";
import type { PolicyEvent } from "@heterosgd/scheduler";
import { coordinate } from "../coordinator/coordinate.js";
import {
  attachCall,
  collectModels,
  ownModelCounts,
  takeSharedModels,
} from "../coordinator/device-models.js";
import { createPermutations } from "../coordinator/permutations.js";
import { createReplayExecutor } from "../coordinator/replay-executor.js";
import type { DeviceApi, DeviceOpened } from "../device/api.js";
import { createDeviceHost } from "../device/device-host.js";
import { createDeviceKernels, plainKernels } from "../device/device-kernels.js";
import { createKernelMemory, kernelsSetup } from "../device/kernel-memory.js";
import { batchLimits, bufferRows } from "./batch-limits.js";
import { deviceInfo } from "./device-info.js";
import type { StartRecord } from "./run-event.js";
import type { TrainOptions } from "./train.js";

export interface ReplayOptions extends Pick<
  TrainOptions,
  "train" | "shape" | "rule" | "policy" | "seed" | "initialScale"
> {
  /**
   * The recorded start's `devices`: the same kernels then run again, on as many threads. A number stands
   * for as many on the plain kernels.
   */
  readonly devices: number | StartRecord["devices"];
  /**
   * The policy events of the recorded run, in order (other records of its event stream left out).
   */
  readonly events: readonly PolicyEvent[];
}

/**
 * Replays a run over the same data, configuration and seed. Evaluations are not repeated.
 *
 * @returns the global model at its end, laid out by `parameterLayout(shape)`.
 * @throws TrainerError REPLAY_MISMATCH where the recorded answers cannot come from such a run.
 */
export async function replay(options: ReplayOptions): Promise<Float32Array> {
  const { train, shape, rule, policy, seed, initialScale = 1 } = options;
  const { maxBatchRows } = policy;
  const layout = parameterLayout(shape);
  const kernels =
    typeof options.devices === "number"
      ? Array.from({ length: options.devices }, () => plainKernels)
      : options.devices.map(({ runs = plainKernels }) => runs);
  const roles = typeof options.devices === "number" ? [] : options.devices.map(({ role }) => role);
  const infos = kernels.map(({ threads }, id) =>
    deviceInfo(id, maxBatchRows, { threads, role: roles[id] ?? "host" }),
  );
  const memory = createKernelMemory(kernels);
  const names = policy.models(infos);

  const hosts: DeviceApi[] = [];
  const opened: DeviceOpened[] = [];
  for (const { id } of infos) {
    const host = createDeviceHost({
      createKernels: (setup) => createDeviceKernels(setup.kernels),
      now: () => 0,
      idle: () => undefined,
    });
    hosts.push(host);
    opened.push(
      await host.open({
        ...ownModelCounts(names, id),
        id,
        kernels: kernelsSetup(kernels[id]!, memory),
        speed: 1,
        shape,
        rule,
        train: train.buffer,
        evaluation: null,
        limits: batchLimits(bufferRows(policy, train, null), [train]),
        cutoffs: [1],
      }),
    );
  }
  const shared = takeSharedModels(names, shape, rule, memory);
  const models = collectModels(names, opened, shared);
  for (const { id } of infos) await hosts[id]!.attach(attachCall(models, names, id));
  initialise(layout, models.memory("global").parameters, seed, {
    rowNorm: rowNorm(train.features),
    scale: initialScale,
  });

  const permutations = createPermutations(train.rows, seed, (order) => {
    for (const host of hosts) void host.addPermutation(order);
  });
  const setup = { devices: infos, rows: train.rows, parameters: layout.parameterCount };
  const { events } = options;
  await coordinate(
    policy,
    setup,
    createReplayExecutor({ hosts, models, modelLength: layout.length, permutations, events }),
  );
  return models.memory("global").parameters;
}
