/** A device's worker whose only method does what its argument says. */
import { workerData, type MessagePort } from "node:worker_threads";
import * as Comlink from "comlink";
import { installErrorTransfer } from "../../src/device/error-transfer.js";

const { port } = workerData as { port: MessagePort };
const forever = () => new Promise<never>(() => undefined);

installErrorTransfer();
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
      return what >= 3 ? forever() : what;
    },
    async close(): Promise<null> {
      setTimeout(() => port.close(), 0);
      return null;
    },
  },
  port as unknown as Comlink.Endpoint,
);
