/**
 * Starts a device's worker and stands between it and the coordinator. Comlink's calls to a worker
 * that has died never settle, so every call here is raced against the worker's death and a
 * time-out.
 */
import { MessageChannel, Worker } from "node:worker_threads";
import * as Comlink from "comlink";
import { TrainerError } from "../errors.js";
import type { DeviceApi } from "./api.js";
import { createTimeLimits } from "./time-limits.js";

export { LONGEST_DELAY_MS } from "./time-limits.js";

/** One call, made on the device's remote interface. */
export type DeviceCall<T> = (device: RemoteDevice) => Promise<T>;

export type RemoteDevice = Pick<Comlink.Remote<DeviceApi>, keyof DeviceApi>;

export interface SupervisedDevice {
  readonly name: string;
  /**
   * Makes one call.
   * @throws TrainerError DEVICE_EXITED, DEVICE_TIMEOUT; the device's own error otherwise.
   */
  call<T>(timeoutMs: number, work: DeviceCall<T>): Promise<T>;
  /** Settles with the reason once the worker is dead without having been closed. */
  readonly death: Promise<TrainerError>;
  /** Closes the device and waits for its worker to end; after the time-out it is terminated. */
  close(timeoutMs: number): Promise<Awaited<ReturnType<DeviceApi["close"]>>>;
  /**
   * Ends the worker, at once if `leaveMs` is 0. Afterwards it touches no memory that others see.
   *
   * @returns whether its thread has ended: one that is stuck in foreign code can't be made to.
   */
  terminate(): Promise<boolean>;
}

const WORKER_URL = new URL("./device.worker.js", import.meta.url);

/** Room for a device's young objects. */
const YOUNG_MEBIBYTES = 4;

/** A thread in JavaScript ends at once; one that is stuck in foreign code may never. */
const TERMINATION_MS = 10_000;

export interface DeviceThread {
  /** Default: the worker beside this module. */
  readonly workerUrl?: URL | undefined;
  /**
   * Milliseconds that the worker is given to close by itself before it is ended by force: foreign code may take
   * the whole process with it when its thread is cut off (a graphics driver with a live context). Default 0.
   */
  readonly leaveMs?: number;
}

export function startDevice(
  name: string,
  { workerUrl = WORKER_URL, leaveMs = 0 }: DeviceThread = {},
): SupervisedDevice {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(workerUrl, {
    workerData: { port: port2 },
    transferList: [port2],
    name,
    // Inherited flags (a test runner's export conditions, say) would make the worker load other
    // files.
    execArgv: [],
    // It makes messages only; by default their garbage may come to three times 16 MiB.
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEBIBYTES },
  });
  const remote = Comlink.wrap<DeviceApi>(port1 as unknown as Comlink.Endpoint);
  const methods = methodsOf(remote);
  const limits = createTimeLimits();
  let closing = false;
  let failure: { readonly cause: unknown } | undefined;

  // Rejects the calls in flight when the worker dies. A promise that all calls race against would
  // keep something of every call for as long as the worker lives.
  const pending = new Set<(reason: TrainerError) => void>();
  let dead: TrainerError | undefined;
  let termination: Promise<boolean> | undefined;

  const exited = new Promise<number>((resolve) => {
    worker.on("error", (cause: unknown) => (failure = { cause }));
    // What it sent last may be in line behind the news of its end.
    worker.on("exit", (code) => setImmediate(resolve, code));
  });
  const death = new Promise<TrainerError>((resolve) => {
    void exited.then((code) => {
      port1.close();
      dead = deathOf(name, code, failure);
      for (const giveUp of pending) giveUp(dead);
      if (!closing) resolve(dead);
    });
  });

  function call<T>(timeoutMs: number, work: DeviceCall<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (dead !== undefined) return reject(dead);
      if (termination !== undefined) {
        return reject(new TrainerError("DEVICE_EXITED", `${name} was ended`));
      }
      const giveUp = (reason: TrainerError) => {
        limit.end();
        pending.delete(giveUp);
        reject(reason);
      };
      const limit = limits.begin(timeoutMs, (ms) => {
        const message = `${name} has not answered for ${Math.ceil(ms / 1000)} s`;
        giveUp(new TrainerError("DEVICE_TIMEOUT", message));
      });
      pending.add(giveUp);
      work(methods).then(
        (value) => {
          limit.end();
          pending.delete(giveUp);
          resolve(value);
        },
        // Passed on as it is: what a device throws has a code of its own.
        (error: TrainerError) => giveUp(error),
      );
    });
  }

  function terminate(): Promise<boolean> {
    closing = true;
    termination ??= end();
    return termination;
  }

  async function end(): Promise<boolean> {
    if (leaveMs > 0 && dead === undefined) {
      try {
        // Its answer, if any, is of no interest: the worker's end is.
        methods.close().catch(() => undefined);
      } catch {
        // Comlink's proxy is released: it was told to close already.
      }
      if (await within(leaveMs, exited)) return true;
    }
    return within(TERMINATION_MS, worker.terminate());
  }

  return {
    name,
    call,
    death,
    terminate,
    async close(timeoutMs) {
      closing = true;
      try {
        const usage = await call(timeoutMs, (device) => device.close());
        remote[Comlink.releaseProxy]();
        port1.close();
        await within(timeoutMs, exited);
        return usage;
      } finally {
        await terminate();
      }
    },
  };
}

/** Each method taken once: Comlink makes a proxy, and has it watched for its end, at every access. */
function methodsOf(remote: RemoteDevice): RemoteDevice {
  return {
    open: remote.open,
    attach: remote.attach,
    addModels: remote.addModels,
    addPermutation: remote.addPermutation,
    step: remote.step,
    steps: remote.steps,
    accumulate: remote.accumulate,
    pull: remote.pull,
    push: remote.push,
    refresh: remote.refresh,
    apply: remote.apply,
    blend: remote.blend,
    copy: remote.copy,
    evaluate: remote.evaluate,
    close: remote.close,
  };
}

/** Waits for the promise, but not longer than that; returns whether it was in time. */
async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const inTime = await Promise.race([promise.then(() => true), timeUp]);
  clearTimeout(timer);
  return inTime;
}

function deathOf(name: string, code: number, failure?: { readonly cause: unknown }): TrainerError {
  return failure === undefined
    ? new TrainerError("DEVICE_EXITED", `${name} ended by itself (exit code ${code})`)
    : failureOf(name, failure.cause);
}

/** What a device threw, as an error that names it. */
export function failureOf(name: string, cause: unknown): TrainerError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new TrainerError("DEVICE_FAILED", `${name} failed: ${message}`, { cause });
}
