/**
 * Entry of a device's worker thread: one `DeviceApi`, exposed on the port that the supervisor hands
 * over.
 */
import { workerData } from "node:worker_threads";
import * as Comlink from "comlink";
import { createDeviceHost } from "./device/device-host.js";
import { createDeviceKernels } from "./device/device-kernels.js";
import { sendErrorCodes } from "./device/error-transfer.js";

const { port } = workerData as { port: import("node:worker_threads").MessagePort };
const never = new Int32Array(new SharedArrayBuffer(4));

sendErrorCodes();
const device = createDeviceHost({
  createKernels: (setup) => createDeviceKernels(setup.kernels, setup),
  now: () => performance.now() / 1000,
  // Blocks the thread, as a slower processor would; nothing ever wakes it early.
  idle: (seconds) => void Atomics.wait(never, 0, 0, seconds * 1000),
});
Comlink.expose(
  {
    ...device,
    close: async () => {
      const usage = await device.close();
      // Comlink answers after this returns; the thread ends once its last port is closed.
      setTimeout(() => port.close(), 0);
      return usage;
    },
  },
  port as unknown as Comlink.Endpoint,
);
