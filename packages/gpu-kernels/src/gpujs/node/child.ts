/** The parent's end of a process that runs gpu.js. */
import { fork } from "node:child_process";
import { GpuKernelsError, type GpuKernelsErrorCode } from "../../errors.js";
import { packageRoot } from "../../package-root.js";
import type { Call, Reply, Request } from "./messages.js";

export interface Child {
  /** Sends a call that is not answered. @throws GpuKernelsError GPU_LOST once the process has ended */
  readonly tell: (call: Call) => void;
  /** @throws what this call or one before it threw there, or GpuKernelsError GPU_LOST */
  readonly ask: (call: Call) => Promise<unknown>;
  /** Lets the process end by itself, or ends it if it doesn't. */
  readonly end: () => void;
}

const graceMs = 5_000;

export function openChild(): Child {
  const entry = new URL("dist/gpujs-process.js", packageRoot);
  const child = fork(entry, [], {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  let calls = 0;
  let lost: GpuKernelsError | undefined;
  let isEnding = false;
  let words = "";

  function lose(reason: string): void {
    const said = words.trim().split("\n").at(-1) ?? "";
    const message = `the process of gpu.js ${reason}${said === "" ? "" : `: ${said.slice(0, 300)}`}`;
    lost ??= new GpuKernelsError("GPU_LOST", message);
    for (const { reject } of waiting.values()) reject(lost);
    waiting.clear();
  }

  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-2000);
  });
  child.on("message", (message) => {
    const { id, value, error } = message as Reply;
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(errorOf(error));
  });
  child.on("error", (error) => lose(`can't be started: ${error.message}`));
  // After `exit`, when all that it said has been read.
  child.on("close", (code, signal) =>
    lose(signal === null ? `ended with status ${code}` : `was ended by ${signal}`),
  );

  function send(request: Request): void {
    if (lost !== undefined) throw lost;
    // What can't be sent is on its way to `close`.
    child.send(request, () => undefined);
  }

  return {
    tell: (call) => send({ call }),
    ask: (call) =>
      new Promise((resolve, reject) => {
        const id = calls++;
        waiting.set(id, { resolve, reject });
        try {
          send({ id, call });
        } catch (error) {
          waiting.delete(id);
          reject(error);
        }
      }),
    end() {
      if (isEnding) return;
      isEnding = true;
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      timer.unref();
      child.once("exit", () => clearTimeout(timer));
    },
  };
}

function errorOf({ code, message }: NonNullable<Reply["error"]>): Error {
  if (code === null) return new Error(message);
  return new GpuKernelsError(code as GpuKernelsErrorCode, message);
}
