/**
 * A device's worker that works as it should until its fate: at which call of which method, on which
 * device, it does what. Whoever imports it leaves the fates in `globalThis`.
 */
import { workerData, type MessagePort } from "node:worker_threads";
import * as Comlink from "comlink";
import type { DeviceApi, DeviceSetup, StepCall } from "../../src/device/api.js";
import { createDeviceHost } from "../../src/device/device-host.js";
import { createDeviceKernels, isGpu } from "../../src/device/device-kernels.js";
import { sendErrorCodes } from "../../src/device/error-transfer.js";
import type { Destiny, Fate } from "../mortal.js";
import { createOpaqueKernels } from "../opaque-kernels.js";

const { port } = workerData as { port: MessagePort };
const { fates, opaque } = globalThis as unknown as Destiny;
const calls = new Map<string, number>();
let id = -1;

async function meet<T>(method: string, work: () => Promise<T>): Promise<T> {
  const call = (calls.get(method) ?? 0) + 1;
  calls.set(method, call);
  const fate = fates.find(
    (one) => one.devices.includes(id) && one.method === method && one.call === call,
  );
  if (fate === undefined) return work();
  if (fate.end === "exit before") process.exit(3);
  if (fate.end === "throw") throw new Error("out of memory");
  if (fate.end === "hang") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  const result = await work();
  if (fate.end === "exit after") process.exit(3);
  return broken(result as Answer, fate.end) as T;
}

/** What answers of the protocol have in common, or some of them. */
interface Answer {
  readonly loss?: number;
  readonly nonZeros?: number;
  readonly norm?: number | null;
  readonly usage?: object;
  readonly sums?: { readonly rows: number };
  readonly models?: readonly unknown[];
}

function broken(answer: Answer, end: Fate["end"]): Answer {
  if (end === "NaN") return { ...answer, loss: NaN };
  if (end === "nonsense") {
    // Some calls are answered by the usage alone.
    if (answer.usage === undefined) return { ...answer, merging: NaN } as Answer;
    return { ...answer, usage: { ...answer.usage, training: NaN } };
  }
  const { sums, models } = answer;
  return {
    ...answer,
    ...(sums === undefined ? {} : { sums: { ...sums, rows: sums.rows + 1 } }),
    ...(models === undefined ? {} : { models: models.slice(1) }),
    ...(answer.nonZeros === undefined ? {} : { nonZeros: -1 }),
    ...(answer.norm === undefined ? {} : { norm: undefined }),
  } as Answer;
}

const host = createDeviceHost({
  createKernels(setup) {
    const isOpaque = opaque === "all" || opaque.includes(setup.id);
    if (!isOpaque || isGpu(setup.kernels)) return createDeviceKernels(setup.kernels);
    const { memory } = setup.kernels;
    return createOpaqueKernels(createDeviceKernels({ ...setup.kernels, memory }));
  },
  now: () => performance.now() / 1000,
  idle: () => undefined,
});
const open = (setup: DeviceSetup) => {
  ({ id } = setup);
  return meet("open", () => host.open(setup));
};
const close = async () => {
  const usage = await meet("close", () => host.close());
  setTimeout(() => port.close(), 0);
  return usage;
};
const mortal = new Proxy({ ...host, open, close } satisfies DeviceApi, {
  get(api, method: keyof DeviceApi) {
    if (method === "open" || method === "close") return api[method];
    if (method === "steps") {
      return async (steps: readonly StepCall[]) => {
        const replies = steps.map((call) => meet("step", () => api.step(call)));
        return Promise.all(replies);
      };
    }
    return (argument: never) => meet(method, async () => api[method](argument) as Promise<unknown>);
  },
});

sendErrorCodes();
Comlink.expose(mortal, port as unknown as Comlink.Endpoint);
