import { basename, dirname, join, resolve } from "node:path";
import { availableMemory } from "node:process";
import {
  checkRunFolder,
  collectGarbage,
  createRunFolder,
  discardAfter,
  lockRun,
  resumeRunFolder,
  runFiles,
  runOwner,
  type GpujsSupport,
  type Profile,
  type RunEvent,
  type RunFolder,
  type RunLock,
  type TrainerError,
} from "@heterosgd/trainer";
import { autoDevices } from "../auto-devices.js";
import { decide, storedConfig, type DecidedConfig } from "../config/complete.js";
import { defaultProfile } from "../config/default-profile.js";
import { resumedConfig } from "../config/resumed.js";
import {
  environmentLayer,
  fileLayer,
  flagLayer,
  resolveOptions,
  resolveTraining,
} from "../config/resolve.js";
import { trainSchema } from "../config/schema.js";
import { readTrainingData } from "../data.js";
import { CliError, exitCodes, type ExitCode } from "../errors.js";
import { gpujsFor } from "../gpujs.js";
import { checkMemory, loweredBatches } from "../memory.js";
import { formatBytes, formatSeconds } from "../output/format.js";
import type { Dashboard } from "../dashboard/dashboard.js";
import type { Output } from "../output/output.js";
import { checkEarly, planRun, type Plan } from "../plan.js";
import { readProfile } from "../profile.js";
import { watchSignals } from "../signals.js";
import { checkTensorboard } from "../tensorboard/tensorboard.js";
import { planDocument, planLines } from "./train-plan.js";
import { checkEarlier, findRun, openEarlier, resultOf, type EarlierRun } from "./train-resume.js";
import { runInFolder } from "./train-run.js";
import { freeDisk } from "./train-saving.js";

export interface TrainFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly [key: string]: unknown;
}

type Verb = "train" | "simulate";

/** `heterosgd train [FILE]`, `heterosgd simulate [FILE]` */
export async function trainCommand(
  verb: Verb,
  file: string | undefined,
  flags: TrainFlags,
  output: Output,
): Promise<ExitCode> {
  const interruption = watchSignals((text) => output.warn(text));
  let lock: RunLock | null = null;
  let dashboard: Dashboard | null = null;
  try {
    const { config, earlier } = await configure(file, flags);
    const profile = await profileFor(verb, config);
    checkEarly(config, profile, await gpujsOf(config, profile));
    await checkTensorboard(config.tensorboard);
    const decided = profile === null ? await withDevices(config, output) : config;
    const dryRun = flags.dryRun === true;
    const suffix = profile === null ? "" : "-simulated";
    const out = decided.out ?? decided.resume;
    const folder = earlier?.folder ?? out ?? `${defaultFolder(decided, new Date())}${suffix}`;
    const folderOptions = {
      force: decided.force,
      inputs: [decided.train, decided.test, decided.labelNames].filter((input) => input !== null),
      unique: out === null,
    };
    if (earlier === null) await checkRunFolder(folder, folderOptions);
    else if (!dryRun) lock = await lockRun(folder, false, sayWaiting(folder, output));
    else if ((await runOwner(folder)) !== null) output.warn(`the run in ${folder} is under way`);
    const resumed =
      earlier === null
        ? null
        : await openEarlier(earlier, verb, !dryRun, (text) => output.warn(text));

    if (profile === null && !dryRun) dashboard = await dashboardFor(decided, output);
    const plan = await readAndPlan(decided, profile, output);
    const [available, disk] = [availableMemory(), await freeDisk(folder)];
    const lines = planLines(plan, available, disk);
    if (resumed !== null && (await checkEarlier(resumed, resumedOptions(plan)))) {
      output.say(`${folder} has done all that it was to do; with more --epochs it goes on`);
      output.document(await resultOf(folder));
      return exitCodes.done;
    }
    for (const line of lines) {
      if (dryRun) output.print(line);
      else output.say(line);
    }
    checkMemory(plan, available);
    for (const line of loweredBatches(plan)) output.warn(line);
    warnOfDisk(plan, disk, output);
    if (dryRun) {
      output.document(planDocument(plan, available, disk));
      return exitCodes.done;
    }
    // From here on there is a folder, which is not to be left half made.
    interruption.saveFirst();
    const onFailure = ({ message }: TrainerError) =>
      output.warn(`${message}; training goes on without ${runFiles.events} and ${runFiles.log}`);
    const stored = storedConfig(plan.config);
    const checkpoint = resumed?.checkpoint ?? null;
    let run: RunFolder;
    if (resumed === null || lock === null) {
      run = await createRunFolder(folder, stored, { ...folderOptions, onFailure });
      lock = run.lock;
    } else {
      // Before the events are cut: a checkpoint must never be of more of them than there are.
      if (checkpoint !== null) await discardAfter(dirname(checkpoint.path), checkpoint.path);
      run = await resumeRunFolder(
        folder,
        stored,
        checkpoint?.record.events ?? null,
        lock,
        onFailure,
      );
    }
    const earlierEvents = checkpoint === null ? null : run.draft("events");
    await dashboard?.begin(basename(run.path), earlierEvents);
    const onEvent = (event: RunEvent) => dashboard?.event(event);
    return await runInFolder(run, plan, checkpoint, lines, interruption, output, onEvent);
  } finally {
    await dashboard?.close();
    await lock?.release();
    interruption.stopWatching();
  }
}

/** With the GPUs that `auto` takes by name. */
async function withDevices(config: DecidedConfig, output: Output): Promise<DecidedConfig> {
  if (config.devices !== "auto") return config;
  const devices = await autoDevices(config, output);
  return devices === null ? config : { ...config, devices };
}

/** Opened before anything is read, so that a port that can't be had costs no time. */
async function dashboardFor(
  { dashboard: wanted }: DecidedConfig,
  output: Output,
): Promise<Dashboard | null> {
  if (wanted === false) return null;
  // Charts take a while to load, and most runs have none.
  const { openDashboard } = await import("../dashboard/dashboard.js");
  const dashboard = await openDashboard(wanted);
  output.say(`the run can be watched at ${dashboard.url}`);
  return dashboard;
}

function sayWaiting(folder: string, output: Output) {
  return ({ pid, host }: { readonly pid: number; readonly host: string }) =>
    output.say(`waiting to see whether process ${pid} on ${host} is at work in ${folder}`);
}

async function readAndPlan(
  decided: DecidedConfig,
  profile: Profile | null,
  output: Output,
): Promise<Plan> {
  output.say(decided.sample ? "reading the bundled sample" : `reading ${decided.train}`);
  const began = performance.now();
  const data = await readTrainingData(decided);
  // What reading has left behind is not to lie beside the models.
  await collectGarbage();
  output.detail(`read in ${formatSeconds((performance.now() - began) / 1000)}`);
  for (const notice of data.notices) output.say(`note: ${notice}`);
  return planRun(decided, data, profile, await gpujsOf(decided, profile));
}

/** What a checkpoint is compared with. */
function resumedOptions({ options, checkpoints }: Plan) {
  const configuration = checkpoints?.configuration;
  const kept = configuration === undefined ? {} : { checkpoints: { folder: "", configuration } };
  return { ...options, ...kept };
}

function warnOfDisk({ checkpoints }: Plan, disk: number | null, output: Output): void {
  if (checkpoints === null || disk === null || checkpoints.disk <= disk) return;
  output.warn(
    `checkpoints may take up to ${formatBytes(checkpoints.disk)} on the disk, but ${formatBytes(disk)} are free; --keep 1 takes fewer`,
  );
}

/** What gpu.js offers, if a device is to run on it; simulated ones are of the profile's kinds. */
async function gpujsOf(
  { devices }: DecidedConfig,
  profile: Profile | null,
): Promise<GpujsSupport | undefined> {
  return profile === null ? gpujsFor(devices) : undefined;
}

/** What `simulate` takes its times from. */
async function profileFor(
  verb: Verb,
  { profile, algorithm, countEvaluation }: DecidedConfig,
): Promise<Profile | null> {
  if (verb === "simulate") return readProfile(profile ?? defaultProfile(algorithm));
  if (profile === null && !countEvaluation) return null;
  throw new CliError("CONFLICT", "a profile of simulated devices is set, but this is a real run", {
    hint: "heterosgd simulate takes it; unset it (null in the file) to train on real devices",
  });
}

/** What the run is to be, and the one that it goes on with; null for a new one. */
async function configure(
  file: string | undefined,
  flags: TrainFlags,
): Promise<{ readonly config: DecidedConfig; readonly earlier: EarlierRun | null }> {
  if (file !== undefined && flags["train"] !== undefined) {
    throw new CliError("CONFLICT", `training data is named twice: ${file} and --train`);
  }
  const fromFlags = flagLayer(trainSchema, file === undefined ? flags : { ...flags, train: file });
  const configFile = flags.config === undefined ? [] : [await fileLayer(trainSchema, flags.config)];
  const named = [fromFlags, ...configFile];
  const all = [...named, environmentLayer(trainSchema, process.env)];
  const { resume, out, force, dashboard } = resolveOptions(trainSchema, all);
  if (resume === null) return { config: decide(resolveTraining(all)), earlier: null };
  refuseOther(resume, out, force);
  const earlier = await findRun(resume);
  if (earlier === null) return { config: decide(resolveTraining(all)), earlier };
  return { config: { ...resumedConfig(earlier.stored, named), resume, dashboard }, earlier };
}

/** @throws CliError CONFLICT */
function refuseOther(resume: string, out: string | null, force: boolean): void {
  if (out !== null && resolve(out) !== resolve(resume)) {
    throw new CliError("CONFLICT", `--resume goes on in ${resume}, but --out is ${out}`, {
      hint: "leave --out out",
    });
  }
  if (!force) return;
  throw new CliError("CONFLICT", "--resume goes on with a run, --force replaces it", {
    hint: "leave one of the two out",
  });
}

/** `runs/20261130-142501-bibtex`, after the data. */
export function defaultFolder({ sample, train }: DecidedConfig, now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const path = train ?? "";
  const stem = basename(path).replace(/\..*/, "");
  const name = sample
    ? "sample"
    : stem === "train"
      ? basename(dirname(path)).replace(/^\.$/, "")
      : stem;
  return join("runs", `${time}-${name || "run"}`);
}
