// Preloaded into every thread of a run by `bench faults`: has one device fail at one of its calls, as a
// bad driver or a dying machine would. It stands between the device and its port, on which Comlink's
// messages pass, so that what is broken is the very program that users have.
import { writeFileSync } from "node:fs";
import { isMainThread, workerData } from "node:worker_threads";

const plan = JSON.parse(process.env.BENCH_BREAK ?? "null");
if (plan !== null && !isMainThread && workerData?.port !== undefined) {
  breakDevice(plan, workerData.port);
}

/**
 * @param plan - `device`, its id; `end`, how it fails; `call`, at which call or the first one after it
 * that can fail so; `mark`, a file that tells that it has.
 */
function breakDevice({ device, end, call, mark }, port) {
  const notCounted = new Set(["open", "attach", "close"]);
  const training = new Set(["step", "steps", "accumulate"]);
  const post = port.postMessage.bind(port);
  const listen = port.addEventListener.bind(port);
  /** Methods of the calls whose answers may be broken, by the messages' ids. */
  const methods = new Map();
  let isMeant = false;
  let isOver = false;
  let calls = 0;
  let trained = 0;

  const strike = (method) => {
    isOver = true;
    writeFileSync(mark, JSON.stringify({ method, call: calls }));
  };

  /** Whether the device gets to see the call. */
  function meet({ id, type, path, argumentList }) {
    if (type !== "APPLY") return true;
    const method = path.at(-1);
    if (method === "open") isMeant = argumentList[0].value.id === device;
    if (!isMeant || isOver || notCounted.has(method)) return true;
    calls++;
    if (training.has(method)) trained++;
    if (calls < call) return true;
    // Of a device that has never trained nobody knows how long it takes.
    if (end === "hang" && trained < 4) return true;
    if (end === "exit before") {
      strike(method);
      process.exit(3);
    }
    if (end === "hang") {
      strike(method);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    if (end === "throw") {
      strike(method);
      const value = { message: "out of memory", name: "Error", stack: "" };
      post({ id, type: "HANDLER", name: "throw", value: { isError: true, value } });
      return false;
    }
    methods.set(id, method);
    return true;
  }

  function answer(message) {
    const method = methods.get(message?.id);
    if (method === undefined || isOver) return message;
    if (end === "exit after") {
      strike(method);
      process.exit(3);
    }
    const value = brokenAnswer(message.value, end);
    if (value === undefined) return message;
    strike(method);
    return { ...message, value };
  }

  port.addEventListener = (type, listener, options) =>
    listen(type, (event) => (meet(event.data) ? listener(event) : undefined), options);
  port.postMessage = (message, transfer) => post(answer(message), transfer);
}

/** An answer that can't be; undefined if it can't be broken in this way. */
function brokenAnswer(value, end) {
  if (Array.isArray(value)) {
    const last = brokenAnswer(value.at(-1), end);
    return last === undefined ? undefined : [...value.slice(0, -1), last];
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (end === "NaN") return "loss" in value ? { ...value, loss: NaN } : undefined;
  if (end === "nonsense") {
    if ("usage" in value) return { ...value, usage: { ...value.usage, training: NaN } };
    return "merging" in value ? { ...value, merging: NaN } : undefined;
  }
  if ("nonZeros" in value) return { ...value, nonZeros: -1 };
  if ("sums" in value) return { ...value, sums: { ...value.sums, rows: value.sums.rows + 1 } };
  return "norm" in value ? { ...value, norm: undefined } : undefined;
}
