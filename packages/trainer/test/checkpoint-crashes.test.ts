/** Processes that end while they write, and disks that take no more. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createRandom } from "@heterosgd/sparse";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { latestCheckpoint, listCheckpoints } from "../src/checkpoint/list-checkpoints.js";
import { sweepCheckpoints } from "../src/checkpoint/remove-checkpoints.js";
import { writeCheckpoint } from "../src/checkpoint/write-checkpoint.js";
import { TrainerError } from "../src/index.js";
import { buildWorker } from "./build-worker.js";
import { bitsOf, emptyArrays, randomCheckpoint, temporaryFolder } from "./random-checkpoint.js";

const KILLS = Number(process.env["CHECKPOINT_KILLS"] ?? 20);

let program: string;
const folders: string[] = [];
beforeAll(async () => {
  program = fileURLToPath(await buildWorker("checkpoint-loop"));
});
afterAll(async () => {
  for (const each of folders) await rm(each, { recursive: true, force: true });
});
async function folder(): Promise<string> {
  const made = await temporaryFolder();
  folders.push(made);
  return made;
}

interface Said {
  readonly step: number;
  readonly code?: string;
  readonly message?: string;
}

/** Reads the newest checkpoint, all of it, and compares it with what was written. */
async function newestStep(at: string, hidden?: number): Promise<number> {
  const checkpoint = await latestCheckpoint(at);
  const { step } = checkpoint.record;
  const written = randomCheckpoint(step, {
    step,
    precision: null,
    ...(hidden === undefined ? {} : { hidden }),
  });
  expect(checkpoint.record).toEqual(written.record);
  for (const [i, { name }] of written.record.models.entries()) {
    const arrays = emptyArrays(written.models[i]!);
    await checkpoint.load(name, arrays);
    expect(bitsOf(arrays)).toEqual(bitsOf(written.models[i]!));
  }
  return step;
}

test(
  `of a process that is killed ${KILLS} times while it writes, the newest checkpoint is whole`,
  { timeout: 60_000 + KILLS * 5000 },
  async () => {
    const at = await folder();
    const random = createRandom(1, Date.now() % 1000);
    let next = 1;
    for (let kill = 0; kill < KILLS; kill++) {
      const child = spawn(process.execPath, [program, at, String(next), "Infinity", "40"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      const lines = createInterface({ input: child.stdout });
      let said = 0;
      for await (const line of lines) {
        const { step, code } = JSON.parse(line) as Said;
        expect(code).toBeUndefined();
        // After the first one: a process that has only begun is of no use here.
        if (said === 0) setTimeout(() => child.kill("SIGKILL"), random.nextFloat() * 60);
        said = step;
      }
      await exited;
      const newest = await newestStep(at, 40);
      expect(newest).toBeGreaterThanOrEqual(said);
      // What is not whole says so.
      for (const { error } of (await listCheckpoints(at)).unusable) {
        expect(error.message).toContain("its writing was not completed");
      }
      await sweepCheckpoints(at);
      expect((await readdir(at)).every((name) => name.startsWith("step-"))).toBe(true);
      expect(await newestStep(at, 40)).toBe(newest);
      next = newest + 1;
    }
    expect(next).toBeGreaterThan(KILLS);
  },
);

describe("where nothing more can be written", () => {
  /** What the program says of checkpoints of a size, where files may have so many KiB. */
  async function write(at: string, first: number, hidden: number, limit: number): Promise<Said[]> {
    const command = [process.execPath, program, at, String(first), "1", String(hidden)];
    const child = spawn("bash", ["-c", `ulimit -f ${limit}; exec "$@"`, "bash", ...command], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said: Said[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(JSON.parse(line) as Said);
    }
    return said;
  }

  test("the reason is told, nothing is left, and the last checkpoint stays", async () => {
    const at = await folder();
    expect(await write(at, 1, 50, 64)).toEqual([{ step: 1 }]);
    const [failure, ...others] = await write(at, 2, 5000, 64);
    expect(others).toEqual([]);
    expect(failure).toMatchObject({ step: 2, code: "CHECKPOINT_WRITE" });
    expect(failure!.message).toBe(
      `no checkpoint could be written in ${at}: files may not become that large there`,
    );
    expect(await readdir(at)).toEqual(["step-1"]);
    expect(await newestStep(at, 50)).toBe(1);
    expect(await write(at, 3, 50, 64)).toEqual([{ step: 3 }]);
  });

  // Permissions don't keep the superuser out; a file in a folder's place does everybody.
  test("a file in the folder's place is an error that says so", async () => {
    const at = join(await folder(), "checkpoints");
    await writeFile(at, "");
    const error: unknown = await writeCheckpoint(at, randomCheckpoint(1)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TrainerError);
    expect(error).toMatchObject({
      code: "CHECKPOINT_WRITE",
      message: `no checkpoint could be written in ${at}: it, or a part of its path, is a file`,
    });
  });

  test("a folder of the system's, in which none can be made, is an error that says so", async () => {
    const error: unknown = await writeCheckpoint("/proc/checkpoints", randomCheckpoint(1)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "CHECKPOINT_WRITE" });
    expect((error as Error).message).toContain("no folder can be made there");
  });

  test("a checkpoint of the same step is not touched", async () => {
    const at = await folder();
    await writeCheckpoint(at, randomCheckpoint(1, { step: 1, precision: null }));
    // Where the next one would be moved to, somebody else's folder lies.
    await mkdir(join(at, "step-1-2", "full"), { recursive: true });
    await writeCheckpoint(at, randomCheckpoint(2, { step: 1, precision: null }));
    expect((await readdir(at)).toSorted()).toEqual(["step-1", "step-1-2", "step-1-3"]);
    expect((await latestCheckpoint(at)).path).toBe(join(at, "step-1-3"));
  });
});
