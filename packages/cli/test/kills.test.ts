import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { start, run, temporaryFolder, writeEasyData } from "./command.js";
import { eventsOf, faultsIn } from "./run-events.js";

const folder = temporaryFolder();
const ROWS = 240;
const EPOCHS = 60;

function checkpoints(): string {
  try {
    return readdirSync(join(folder, "run", "checkpoints")).join();
  } catch {
    return "";
  }
}

test("a run that is killed at any moment goes on with the same command, every row once", async () => {
  writeEasyData(folder);
  const every = ["--checkpoint-every", "merge", "--keep", "3", "--devices", "cpu,cpu@0.5"];
  const small = ["--hidden", "8", "-b", "8", "--epochs", String(EPOCHS)];
  const args = ["train", "train.txt", "--test", "test.txt", "--resume", "run", ...small, ...every];
  // While it loads; then as soon as another checkpoint is there or being written, or a little later.
  for (const after of [100, null, null, 40, null, 15]) {
    const running = start(args, { folder });
    const before = checkpoints();
    const isOver = running.ended.then(() => true);
    if (after !== 100)
      while (checkpoints() === before && !(await Promise.race([isOver, sleep(1)])));
    await Promise.race([isOver, sleep(after ?? 0)]);
    running.child.kill("SIGKILL");
    await running.ended;
  }
  const ended = await run([...args, "--json"], { folder });
  expect(ended.stderr).not.toContain("error");
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ reason: "epochs", rows: ROWS * EPOCHS });
  expect(faultsIn(eventsOf(join(folder, "run")), ROWS, EPOCHS)).toEqual([]);
  const left = readdirSync(join(folder, "run", "checkpoints"));
  expect(left.filter((name) => name.startsWith("."))).toEqual([]);
}, 120_000);
