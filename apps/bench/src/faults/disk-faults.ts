/** Runs whose disk fills up, or whose folder takes no more files, and that go on once that is mended. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { latestCheckpoint } from "@heterosgd/trainer";
import { checkpointProblems, messageOf, readFinished } from "./checks.js";
import { lockableFolder, smallDisk, type Disk } from "./disks.js";
import { TRAIN_ROWS } from "./made-up-data.js";
import { outcomeOf, skippedOutcome, type Outcome, type Scenario } from "./scenario.js";
import { runTrain, startTrain, type Running } from "./train-process.js";
import type { Workplace } from "./workplace.js";

/** Longer nothing is waited for. */
const PATIENCE_MS = 180_000;
/** More epochs than there is time for. */
const ENDLESS = 1_000_000;

export async function breakDisk(
  { algorithm, kind, devices }: Scenario,
  workplace: Workplace,
): Promise<Outcome> {
  const folder = workplace.scenarioFolder(`disk ${algorithm} ${kind}`);
  let disk: Disk;
  try {
    disk = kind === "full" ? smallDisk(folder) : lockableFolder(folder);
  } catch (error) {
    return skippedOutcome(messageOf(error));
  }
  let struck = "";
  try {
    const run = join(disk.folder, "run");
    const { uid } = disk;
    const options = { folder, signal: workplace.signal, ...(uid === undefined ? {} : { uid }) };
    const endless = startTrain(workplace.trainArguments(algorithm, devices, run, ENDLESS), options);
    await until(() => hasCheckpoint(run), endless);
    disk.break(run);
    await until(() => endless.stderr().includes("no checkpoint could be written"), endless);
    endless.kill("SIGTERM");
    const { code, stderr } = await endless.ended;
    // What can't be saved is an error; that there is nothing more to save is none.
    if (code === null || code === 0) throw new Error(`it ended with ${code}: ${stderr}`);
    const { record } = await latestCheckpoint(join(run, "checkpoints"));
    struck = `at step ${record.step} or soon after`;
    const problems = await checkpointProblems(run);
    disk.mend(run);
    const epochs = Math.ceil(record.rows / TRAIN_ROWS) + 1;
    const args = workplace.trainArguments(algorithm, devices, run, epochs);
    const next = await runTrain(args, options);
    if (next.code !== 0) throw new Error(`it did not go on (${next.code}): ${next.stderr}`);
    const counts = await readFinished(run, epochs);
    return outcomeOf(1, struck, { ...counts, repeats: null, problems });
  } catch (error) {
    const problems = [messageOf(error)];
    return outcomeOf(1, struck, { lost: 0, doubled: 0, repeats: null, problems });
  } finally {
    disk.remove();
  }
}

function hasCheckpoint(run: string): boolean {
  const folder = join(run, "checkpoints");
  if (!existsSync(folder)) return false;
  return readdirSync(folder).some((name) => existsSync(join(folder, name, "DONE")));
}

/** @throws Error if the process ends before, or it takes too long; the process is then ended. */
async function until(condition: () => boolean, running: Running): Promise<void> {
  const began = performance.now();
  while (!condition()) {
    const isLate = performance.now() - began > PATIENCE_MS;
    if (isLate) running.kill("SIGKILL");
    if (isLate || running.isOver()) {
      const { code, stderr } = await running.ended;
      throw new Error(`it ended (${code}) before it came to that: ${stderr}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
