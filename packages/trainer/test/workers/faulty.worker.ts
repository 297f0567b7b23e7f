/** A device's worker whose only method does what its argument says. */
import { workerData, type MessagePort } from "node:worker_threads";
import * as Comlink from "comlink";
import { sendErrorCodes } from "../../src/device/error-transfer.js";

const { port } = workerData as { port: MessagePort };
const forever = () => new Promise<never>(() => undefined);

sendErrorCodes();
Comlink.expose(
  {
    async pull(what: number): Promise<number> {
      if (what === 1) throw Object.assign(new RangeError("the device is full"), { code: "FULL" });
      if (what === 2) process.exit(7);
      if (what === 3) {
        setTimeout(() => {
          throw new Error("late failure");
        }, 0);
      }
      // Keeps the thread going after its port is closed.
      if (what === 5) setInterval(() => undefined, 1000);
      if (what === 6) {
        setTimeout(() => {
          // oxlint-disable-next-line typescript/only-throw-error -- what foreign code may do
          throw null;
        }, 0);
      }
      if (what === 7) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return [3, 4, 6].includes(what) ? forever() : what;
    },
    async close(): Promise<null> {
      setTimeout(() => port.close(), 0);
      return null;
    },
  },
  port as unknown as Comlink.Endpoint,
);
