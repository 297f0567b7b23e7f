/** Faults of devices, processes and disks, and what they cost: no row, if all is well. */
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { describeEnvironment, environment } from "../environment.js";
import { parallel } from "../suite/parallel.js";
import { stopOnSignals, Stopped } from "../suite/stop-on-signals.js";
import { markdownTable, terminalTable } from "../suite/tables.js";
import { failDevice } from "./device-faults.js";
import { breakDisk } from "./disk-faults.js";
import { kill } from "./kills.js";
import { planScenarios } from "./plan.js";
import {
  algorithmTable,
  countsOf,
  failureWords,
  kindTable,
  scenarioWords,
  skippedWords,
  type Result,
} from "./report.js";
import type { Part, Scenario } from "./scenario.js";
import { openWorkplace, type Workplace } from "./workplace.js";

export interface FaultsOptions {
  readonly only?: readonly string[];
  readonly quick?: boolean;
  readonly seed?: number;
  readonly jobs?: number;
  readonly markdown?: boolean;
  readonly json?: boolean;
}

/** Runs whose device hangs do little but wait to see that. */
const WAITING_JOBS = 8;

const inject: Readonly<Record<Part, typeof kill>> = {
  devices: failDevice,
  kills: kill,
  disks: breakDisk,
};

export async function faults(options: FaultsOptions): Promise<void> {
  const { seed = 1, jobs = availableParallelism(), quick = false, only } = options;
  const scenarios = planScenarios({ seed, quick, ...(only === undefined ? {} : { only }) });
  const where = environment();
  const began = performance.now();
  const stopping = stopOnSignals();
  // One for each process.
  setMaxListeners(WAITING_JOBS + jobs, stopping.signal);
  const workplace = openWorkplace(seed, stopping.signal);
  const results: Result[] = [];
  let stopped: Stopped | null = null;
  try {
    await injectAll(scenarios, workplace, jobs, results);
  } catch (error) {
    if (!(error instanceof Stopped)) {
      workplace.remove();
      throw error;
    }
    // What is done by then is shown.
    stopped = error;
  } finally {
    stopping.dispose();
  }
  const failures = results.flatMap((result) => failureWords(result) ?? []);
  // Whoever looks into a failure needs what its run has left.
  if (failures.length === 0) workplace.remove();
  process.exitCode = stopped?.exitCode ?? (failures.length === 0 ? 0 : 1);
  const seconds = Math.round((performance.now() - began) / 1000);
  const command = commandOf(options);
  if (options.json === true) {
    const facts = { command, environment: where, seconds, planned: scenarios.length };
    const document = { ...facts, counts: countsOf(results), results };
    console.log(JSON.stringify(document, null, 2));
    return;
  }
  const table = options.markdown === true ? markdownTable : terminalTable;
  console.log(`${table(algorithmTable(results))}\n\n${table(kindTable(results))}\n`);
  for (const words of skippedWords(results)) console.log(`not injected: ${words}\n`);
  for (const failure of failures) console.log(`not survived: ${failure}\n`);
  if (failures.length > 0) console.log(`their runs are in ${workplace.folder}\n`);
  if (stopped !== null) {
    console.log(`${stopped.message} after ${results.length} of ${scenarios.length} scenarios\n`);
  }
  console.log(`${describeEnvironment(where)}\n${command}; ${seconds} s`);
}

async function injectAll(
  scenarios: readonly Scenario[],
  workplace: Workplace,
  jobs: number,
  results: Result[],
): Promise<void> {
  const work = async (scenario: Scenario) => {
    const outcome = await inject[scenario.part](scenario, workplace);
    workplace.signal.throwIfAborted();
    const result = { scenario, outcome };
    results.push(result);
    const came = failureWords(result) ?? outcome.skipped ?? `survived (${outcome.struck})`;
    const words = `${scenarioWords(scenario)}: ${came.split("\n")[0]}`;
    process.stderr.write(`[${results.length}/${scenarios.length}] ${words}\n`);
  };
  const isWaiting = ({ kind }: Scenario) => kind === "hang";
  await Promise.all([
    parallel(scenarios.filter(isWaiting), WAITING_JOBS, work),
    parallel(
      scenarios.filter((scenario) => !isWaiting(scenario)),
      jobs,
      work,
    ),
  ]);
}

function commandOf({ only, quick, seed, jobs }: FaultsOptions): string {
  const options = [
    ...(quick === true ? ["--quick"] : []),
    ...(only === undefined ? [] : ["--only", only.join(",")]),
    ...(seed === undefined ? [] : ["--seed", String(seed)]),
    ...(jobs === undefined ? [] : ["--jobs", String(jobs)]),
  ];
  return ["npm run bench -- faults", ...options].join(" ");
}
