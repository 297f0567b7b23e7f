/**
 * Entry of the thread that writes checkpoints: one `CheckpointWriterApi`, exposed on the port that it
 * is given.
 */
import { workerData } from "node:worker_threads";
import * as Comlink from "comlink";
import { createWriterHost, type WriterSetup } from "./checkpoint/writer-api.js";
import { sendErrorCodes } from "./device/error-transfer.js";

const { port, setup } = workerData as {
  port: import("node:worker_threads").MessagePort;
  setup: WriterSetup;
};

sendErrorCodes();
const writer = createWriterHost(setup);
Comlink.expose(
  {
    ...writer,
    close: async () => {
      await writer.close();
      // Comlink answers after this returns; the thread ends once its last port is closed.
      setTimeout(() => port.close(), 0);
    },
  },
  port as unknown as Comlink.Endpoint,
);
