/** Runs of which a device fails, in the ways that devices fail. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "@heterosgd/sparse";
import { algorithmNames, epochsOf } from "./algorithm-runs.js";
import { checkpointProblems, messageOf, readFinished } from "./checks.js";
import { deviceEnds, outcomeOf, type Outcome, type Scenario } from "./scenario.js";
import { preloading, runTrain, takeMark } from "./train-process.js";
import type { Workplace } from "./workplace.js";

/** A device fails at one of so many of its first calls. */
const FIRST_CALLS = 24;
const ATTEMPTS = 6;

interface Struck {
  readonly method: string;
  readonly call: number;
}

export async function failDevice(
  { algorithm, kind, devices, seed }: Scenario,
  workplace: Workplace,
): Promise<Outcome> {
  const { signal } = workplace;
  const folder = workplace.scenarioFolder(`device ${algorithm} ${kind}`);
  const run = join(folder, "run");
  const mark = join(folder, "mark.json");
  const args = workplace.trainArguments(algorithm, devices, run);
  const end = deviceEnds.findIndex((it) => it === kind);
  const random = createRandom(seed, algorithmNames.indexOf(algorithm), end, devices);
  const device = random.nextBelow(devices);
  let calls = FIRST_CALLS;
  let words = "";
  const problems: string[] = [];
  try {
    for (let attempt = 0; words === ""; attempt++) {
      if (attempt === ATTEMPTS) throw new Error(`device ${device} was never asked for that`);
      rmSync(run, { recursive: true, force: true });
      const call = 1 + random.nextBelow(calls);
      const environment = preloading("break-device", { device, end: kind, call, mark });
      const { code, stderr } = await runTrain(args, { folder, environment, signal });
      const struck = takeMark(mark) as Struck | null;
      if (struck === null) {
        if (code !== 0) throw new Error(`it failed (${code}): ${stderr}`);
        calls = Math.max(1, calls >> 1);
        continue;
      }
      words = `${struck.method}, call ${struck.call} of device ${device}`;
      if (kind === "NaN") {
        problems.push(...divergenceProblems(code, stderr));
        // What a device says of itself may be wrong once; the run goes on from before.
        const next = await runTrain(args, { folder, signal });
        if (next.code !== 0) throw new Error(`it did not go on (${next.code}): ${next.stderr}`);
      } else if (code !== 0) throw new Error(`the run failed (${code}): ${stderr}`);
    }
    const { events, ...counts } = await readFinished(run, epochsOf(algorithm));
    problems.push(...(await checkpointProblems(run)));
    if (
      kind !== "NaN" &&
      !events.some((event) => event.type === "lost" && event.device === device)
    ) {
      problems.push(`device ${device} was not noticed to fail`);
    }
    const outcome = outcomeOf(1, words, { ...counts, repeats: null, problems });
    if (outcome.survived === 1) rmSync(folder, { recursive: true });
    return outcome;
  } catch (error) {
    problems.push(messageOf(error));
    return outcomeOf(1, words, { lost: 0, doubled: 0, repeats: null, problems });
  }
}

function divergenceProblems(code: number | null, stderr: string): readonly string[] {
  if (code !== 0 && stderr.includes("DIVERGED") && stderr.includes("NaN")) return [];
  return [`a loss of NaN ended the run with ${code}: ${stderr}`];
}
