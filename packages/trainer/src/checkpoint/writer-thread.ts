/** The thread that writes a run's checkpoints beside its training. */
import { MessageChannel, Worker } from "node:worker_threads";
import * as Comlink from "comlink";
import { TrainerError } from "../errors.js";
import { createTimeLimits, type TimeLimit } from "../device/time-limits.js";
import type { CheckpointWriterApi, WriterSetup } from "./writer-api.js";

const WORKER_URL = new URL("./checkpoint.worker.js", import.meta.url);

/** A disk that takes longer for a checkpoint of any size, and for each of its bytes, has failed. */
const LIMIT_MS = 300_000;
const LIMIT_MS_PER_BYTE = 1 / 1000;

interface WriterThread extends CheckpointWriterApi {
  /** Whether nothing can be written by it any more. */
  hasEnded(): boolean;
}

/**
 * Starts the thread. Whatever becomes of it, calls settle: with CHECKPOINT_WRITE where it has ended or
 * takes too long. The next write has another one then: a disk may be there again after a while.
 *
 * @param workerUrl - where its entry lies, if not beside this module.
 */
export function startWriter(setup: WriterSetup, workerUrl: URL = WORKER_URL): CheckpointWriterApi {
  let thread = startThread(setup, workerUrl);
  return {
    write(request) {
      if (thread.hasEnded()) thread = startThread(setup, workerUrl);
      return thread.write(request);
    },
    close: () => thread.close(),
  };
}

function startThread(setup: WriterSetup, workerUrl: URL): WriterThread {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(workerUrl, {
    workerData: { port: port2, setup },
    transferList: [port2],
    name: "checkpoints",
    // Inherited flags (a test runner's, say) would make the worker load other files.
    execArgv: [],
  });
  const remote = Comlink.wrap<CheckpointWriterApi>(port1 as unknown as Comlink.Endpoint);
  const limits = createTimeLimits();
  let failure: unknown;
  let hasEnded = false;
  worker.on("error", (cause: unknown) => (failure = cause));
  const ended = new Promise<TrainerError>((resolve) => {
    worker.on("exit", (code) => {
      hasEnded = true;
      const why = failure instanceof Error ? failure.message : `exit code ${code}`;
      // What it sent last may be in line behind the news of its end.
      setImmediate(() => {
        port1.close();
        resolve(writeError(setup.folder, `the thread that writes has ended (${why})`, failure));
      });
    });
  });

  async function call<T>(ms: number, work: Promise<T>): Promise<T> {
    let limit: TimeLimit | undefined;
    const timeUp = new Promise<never>((_, reject) => {
      limit = limits.begin(ms, (waited) => {
        const what = `nothing was heard of it for ${Math.ceil(waited / 1000)} s`;
        hasEnded = true;
        reject(writeError(setup.folder, what));
        void worker.terminate();
      });
    });
    const end = ended.then((error) => Promise.reject(error));
    try {
      return await Promise.race([work, timeUp, end]);
    } finally {
      limit?.end();
    }
  }

  return {
    hasEnded: () => hasEnded,
    write(request) {
      const bytes = request.models.reduce(
        (sum, { parameters, state }) => sum + parameters.byteLength * (1 + state.length),
        setup.train.byteLength + (setup.evaluation?.byteLength ?? 0),
      );
      return call(LIMIT_MS + bytes * LIMIT_MS_PER_BYTE, remote.write(request));
    },
    async close() {
      // It may have ended already.
      await call(LIMIT_MS, remote.close()).catch(() => undefined);
      await worker.terminate();
    },
  };
}

function writeError(folder: string, what: string, cause?: unknown): TrainerError {
  const message = `no checkpoint could be written in ${folder}: ${what}`;
  return new TrainerError("CHECKPOINT_WRITE", message, { cause });
}
