import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import type { ModelShape } from "@heterosgd/model";
import { adaptiveSgd } from "@heterosgd/scheduler";
import { uniformMerge } from "@heterosgd/merge";
import {
  calibrate,
  checkCalibration,
  formatDevice,
  type CalibrationCheck,
  type Profile,
} from "@heterosgd/trainer";
import { decide, type DecidedConfig } from "../config/complete.js";
import { flagLayer, resolveOptions } from "../config/resolve.js";
import { calibrateSchema, trainSchema } from "../config/schema.js";
import { readTrainingData, type TrainingData } from "../data.js";
import { CliError, exitCodes, type ExitCode } from "../errors.js";
import { optimizers } from "../optimizers.js";
import { formatCount, formatSeconds, formatShare } from "../output/format.js";
import type { Output } from "../output/output.js";
import { left, right, tableLines } from "../output/table.js";
import { devicesFor } from "../plan.js";

/** The real run that a profile is tried on takes this long, in batches of so many rows at first. */
const CHECK_SECONDS = 4;
const CHECK_BATCH = 128;

/** `heterosgd devices --calibrate FILE` */
export async function calibrateCommand(
  file: string,
  flags: Readonly<Record<string, unknown>>,
  output: Output,
): Promise<ExitCode> {
  const given = resolveOptions(calibrateSchema, [flagLayer(calibrateSchema, flags)]);
  const config = decide({
    ...trainSchema.parse({}),
    ...given,
    sample: given.train === null,
  });
  const devices = devicesFor(config.devices);
  const data = await readTrainingData(config);
  const measured = {
    train: data.train,
    shape: shapeOf(config, data),
    rule: optimizers[config.optimizer].rule,
    devices,
    kernels: config.kernels,
    bf16: config.bf16,
  };
  if (!config.force && existsSync(file)) throw isThere(file, null);
  output.say(
    `measuring ${devices.map(formatDevice).join(",")}, all at once, on ${config.sample ? "the bundled sample" : config.train}`,
  );
  const name = basename(file).replace(/\.json$/, "");
  const profile = await calibrate({ ...measured, name });
  await save(file, profile, config.force);
  output.say("training for real, and in the simulator, for comparison");
  const check = await checkCalibration(profile, {
    ...measured,
    policy: adaptiveSgd({
      epochs: Infinity,
      schedule: { kind: "constant", rate: 1e-3 },
      merge: uniformMerge(),
      batch: { max: CHECK_BATCH },
      evaluateEvery: "never",
    }),
    seed: 1,
    maxSeconds: CHECK_SECONDS,
  });
  for (const line of kindLines(profile)) output.print(line);
  output.print("");
  output.print(`models   pass at ${formatCount(profile.link.bandwidth / 1e6)} MB/s`);
  output.print(checkWords(check), "bold");
  output.print(`profile  ${file}`);
  output.document({ profile, check, file });
  return exitCodes.done;
}

function shapeOf({ hidden, activation, loss }: DecidedConfig, data: TrainingData): ModelShape {
  return { features: data.train.features.columns, hidden, labels: data.labels, activation, loss };
}

async function save(file: string, profile: Profile, force: boolean): Promise<void> {
  try {
    const flag = force ? "w" : "wx";
    await writeFile(file, `${JSON.stringify(profile, null, 2)}\n`, { flag });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw isThere(file, cause);
    throw new CliError("CONFLICT", `cannot write the profile ${file}: ${message}`, { cause });
  }
}

function isThere(file: string, cause: unknown): CliError {
  return new CliError("CONFLICT", `cannot write the profile ${file}: it is there already`, {
    cause,
    hint: "name another file, or add --force",
  });
}

function kindLines({ kinds }: Profile): readonly string[] {
  const micro = (seconds: number) => (seconds * 1e6).toPrecision(3);
  return tableLines(
    [left("device"), right("µs a batch"), right("µs a row"), right("µs a value"), right("jitter")],
    Object.entries(kinds).map(([name, { fixed, perRow, perNonZero, jitter = 0 }]) => [
      name,
      micro(fixed),
      micro(perRow),
      micro(perNonZero),
      formatShare(jitter, 0),
    ]),
  );
}

/** How far the simulator is off, and how far it may be. */
export function checkWords({ rows, real, simulated, error }: CalibrationCheck): string {
  const off = `${error < 0 ? "-" : "+"}${formatShare(Math.abs(error))}`;
  const verdict = Math.abs(error) <= 0.1 ? "within 10 %" : "more than 10 %: was the machine busy?";
  return `error    ${off} (${verdict}): ${formatCount(rows)} rows took ${formatSeconds(real)}, simulated ${formatSeconds(simulated)}`;
}
