/** The process's end: takes calls one after another, in the order in which they were sent. */
import { GpuKernelsError } from "../../errors.js";
import { messageOf } from "../../lack.js";
import type { GpujsArray, GpujsBatch, GpujsKernels } from "../api.js";
import { replaceIn, type Call, type Reference, type Reply, type Request } from "./messages.js";
import { openHere } from "./open-kernels.js";
import { probe } from "./probe.js";

/** Serves the parent until it disconnects. */
export function serve(): void {
  let kernels: GpujsKernels | undefined;
  const arrays: GpujsArray[] = [];
  const views = new Map<string, GpujsArray>();
  const batches: (GpujsBatch | undefined)[] = [undefined, undefined];
  /** What went wrong in a call that is not answered; those after it are left out until it is told. */
  let failure: Reply["error"];
  let last: Promise<void> = Promise.resolve();

  const open = (): GpujsKernels => {
    if (kernels === undefined) throw new TypeError("the kernels are not open");
    return kernels;
  };

  function find(object: object): unknown {
    const reference = object as Reference;
    if (reference.$ === "batch") return batches[reference.slot];
    if (reference.$ !== "array") return undefined;
    const { array, start, length } = reference;
    const key = `${array} ${start} ${length}`;
    const known = views.get(key);
    if (known !== undefined) return known;
    const view = open().view(arrays[array]!, start, length);
    views.set(key, view);
    return view;
  }

  async function run(call: Call): Promise<unknown> {
    switch (call.name) {
      case "probe":
        return probe(call.mode);
      case "open":
        kernels = await openHere(call.mode);
        return { device: kernels.device };
      case "allocate":
        arrays[call.array] = open().allocate(call.length);
        return undefined;
      case "upload":
        batches[call.slot] = undefined;
        batches[call.slot] = open().upload(call.batch as never, call.slot);
        return undefined;
      case "read": {
        const source = replaceIn(call.source, find) as GpujsArray;
        const target = new Float32Array(source.length);
        await open().read(source, target);
        return target;
      }
      case "topK": {
        const { rows, k } = call;
        const [hidden, layer] = [
          replaceIn(call.hidden, find),
          replaceIn(call.layer, find),
        ] as never[];
        const ids = new Uint32Array(rows * k);
        const logits = new Float32Array(rows * k);
        const logSumExp = new Float32Array(rows);
        await open().topK(rows, hidden!, layer!, k, ids, logits, logSumExp);
        return [ids, logits, logSumExp];
      }
      case "deviceUse":
        return open().deviceUse();
      case "dispose":
        await kernels?.dispose();
        kernels = undefined;
        return undefined;
      default: {
        const values = replaceIn(call.values, find) as never[];
        const operation: (...all: never[]) => unknown = open()[call.name];
        return operation(...values);
      }
    }
  }

  async function answer({ id, call }: Request): Promise<void> {
    let value: unknown;
    // What is disposed is disposed whatever went wrong before.
    if (failure === undefined || call.name === "dispose") {
      try {
        value = await run(call);
      } catch (error) {
        failure ??= described(error);
      }
    }
    if (id === undefined) return;
    const reply: Reply = failure === undefined ? { id, value } : { id, error: failure };
    failure = undefined;
    process.send!(reply);
  }

  process.on("message", (message) => {
    last = last.then(() => answer(message as Request));
  });
  process.on("disconnect", () => {
    void last.then(async () => {
      await kernels?.dispose();
      process.exit();
    });
  });
}

function described(error: unknown): NonNullable<Reply["error"]> {
  const code = error instanceof GpuKernelsError ? error.code : null;
  return { code, message: code === null ? messageOf(error) : (error as Error).message };
}
