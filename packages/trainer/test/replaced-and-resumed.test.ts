/** Checkpoints of runs whose devices have come and gone. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countRows } from "@heterosgd/scheduler";
import { afterEach, beforeEach, expect, test } from "vitest";
import { latestCheckpoint } from "../src/checkpoint/list-checkpoints.js";
import { parseDevices, type RunEvent } from "../src/index.js";
import { isType, ROWS, runOf } from "./incidents.js";
import { mortalWorker } from "./mortal.js";

const checkpointWorkerUrl = new URL("../dist/checkpoint.worker.js", import.meta.url);
let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "replaced-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const merged = (events: readonly RunEvent[]) =>
  events.reduce((sum, e) => sum + (e.type === "merge" || e.type === "round" ? e.rows : 0), 0);

test.each(["local", "easgd", "sync"])(
  "%s goes on from a checkpoint that names lost and new devices, and misses no row",
  async (name) => {
    const ending = new AbortController();
    const method = name === "sync" ? "accumulate" : "step";
    let done = 0;
    const first = await runOf(
      name,
      {
        devices: parseDevices("2*cpu"),
        workerUrl: mortalWorker({ devices: [1], method, call: 3, end: "throw" }),
        checkpoints: { folder },
        checkpointWorkerUrl,
        signal: ending.signal,
        onEvent(event) {
          if (event.type === "done" && event.device === 2 && ++done === 3) ending.abort();
        },
      },
      { epochs: 1e6 },
    );
    expect(first.result.reason).toBe("signal");
    const checkpoint = await latestCheckpoint(folder);
    expect(checkpoint.record.devices).toMatchObject([
      { spec: "cpu", isThere: true, info: { id: 0 } },
      { spec: "cpu", isThere: false, info: { id: 1 } },
      { spec: "cpu", isThere: true, info: { id: 2 } },
    ]);

    const before = merged(first.events);
    const epochs = Math.ceil(before / ROWS) + 1;
    const second = await runOf(
      name,
      {
        devices: parseDevices("cpu,cpu@0.5"),
        workerUrl: mortalWorker(),
        resume: checkpoint,
        checkpointWorkerUrl,
      },
      { epochs },
    );
    expect(second.result.reason).toBe("epochs");
    expect(before + merged(second.events)).toBe(epochs * ROWS);
    const trained = second.events
      .filter(isType("done"))
      .reduce((sum, { rows }) => sum + countRows(rows), 0);
    expect(trained).toBe(epochs * ROWS - before);
  },
);
