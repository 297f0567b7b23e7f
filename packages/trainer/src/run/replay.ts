/**
 * Repeats a run in this thread from its recorded events: the same policy, fed the same events in
 * the same order, over the same device code. Each device carries its commands out in the order in
 * which they were issued, and the recorded answers say how far it had come. The parameters come out
 * equal to the last bit, whatever the timing of the real run was.
 */
import { parameterLayout } from "@heterosgd/model";
import type { DeviceInfo } from "@heterosgd/scheduler";
import { coordinate } from "../coordinator/coordinate.js";
import { openHosts } from "../coordinator/open-hosts.js";
import { createPermutations } from "../coordinator/permutations.js";
import { createReplayExecutor } from "../coordinator/replay-executor.js";
import { plainKernels } from "../device/device-kernels.js";
import { batchLimits, bufferRows } from "./batch-limits.js";
import { deviceInfo } from "./device-info.js";
import type { RecordedEvent, StartRecord } from "./run-event.js";
import type { TrainOptions } from "./train.js";

export interface ReplayOptions extends Pick<
  TrainOptions,
  "train" | "shape" | "rule" | "policy" | "seed" | "initialScale"
> {
  /**
   * The recorded start's `devices`: the same kernels then run again, on as many threads. A number stands
   * for as many on the plain kernels. Those that joined later and are not among them are known from their events.
   */
  readonly devices: number | StartRecord["devices"];
  /**
   * The policy events of the recorded run, in order (other records of its event stream left out).
   */
  readonly events: readonly RecordedEvent[];
}

/**
 * Replays a run over the same data, configuration and seed. Evaluations are not repeated.
 *
 * @returns the global model at its end, laid out by `parameterLayout(shape)`.
 * @throws TrainerError REPLAY_MISMATCH where the recorded answers cannot come from such a run.
 */
export async function replay(options: ReplayOptions): Promise<Float32Array> {
  const { train, shape, rule, policy, seed, initialScale = 1 } = options;
  const layout = parameterLayout(shape);
  const { events } = options;
  const started = [...recordedDevices(options.devices)];
  for (const event of events) {
    if (event.type === "joined" && event.device.id === started.length) {
      const { device: info, runs } = event;
      started.push({ info, ...(runs === undefined ? {} : { runs }) });
    }
  }
  const infos = started.map(
    ({ info, runs = plainKernels }, id): DeviceInfo =>
      info ?? deviceInfo(id, policy.maxBatchRows, { threads: runs.threads, role: "host" }),
  );
  const open = await openHosts({
    kernels: started.map(({ runs = plainKernels }) => runs),
    shape,
    rule,
    train,
    evaluation: null,
    limits: batchLimits(bufferRows(policy, train, null), [train]),
    cutoffs: [1],
    models: policy.models(infos),
    seed,
    initialScale,
  });
  const { hosts, models } = open;
  const permutations = createPermutations(train.rows, seed, (order) => {
    for (const host of hosts) void host.addPermutation(order);
  });
  const joining = new Set(events.flatMap((e) => (e.type === "joined" ? [e.device.id] : [])));
  // The run may have ended before a device was to join.
  const isLate = (id: number) => joining.has(id) || started[id]?.joins !== undefined;
  const devices = infos.filter(({ id }) => !isLate(id));
  const setup = { devices, rows: train.rows, parameters: layout.parameterCount };
  const modelLength = layout.length;
  const present = devices.map(({ id }) => id);
  await coordinate(
    policy,
    policy.start(setup),
    createReplayExecutor({ hosts, present, models, modelLength, permutations, events }),
  );
  const parameters = models.memory("global").parameters.slice();
  await open.close();
  return parameters;
}

function recordedDevices(
  devices: ReplayOptions["devices"],
): readonly Pick<StartRecord["devices"][number], "info" | "runs" | "joins">[] {
  return typeof devices === "number" ? Array.from({ length: devices }, () => ({})) : devices;
}
