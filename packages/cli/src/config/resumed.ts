/** The configuration of a run that goes on: its own, but for what may be set anew. */
import { CliError } from "../errors.js";
import { decide, type DecidedConfig } from "./complete.js";
import { flagName } from "./option-flags.js";
import { ownNames } from "./own-options.js";
import { checkedValues, resolveOptions, resolveTraining, type Layer } from "./resolve.js";
import { trainSchema, type TrainConfig } from "./schema.js";

type Key = keyof TrainConfig;

/** Where the data lies: what it holds must be the same, and is compared with the checkpoint's. */
const dataKeys: readonly Key[] = ["train", "test", "sample", "labelNames"];

/** What may be another in each part of a run. */
const changeableKeys: readonly Key[] = [
  "devices",
  "kernels",
  "bf16",
  "require",
  "minDevices",
  "deviceRetries",
  "epochs",
  "maxSteps",
  "maxTime",
  "target",
  "patience",
  "learningRate",
  "schedule",
  "scheduleEpochs",
  "scheduleFactor",
  "scheduleFinal",
  "scheduleDecay",
  "warmupEpochs",
  "evaluateEvery",
  "tensorboard",
  "checkpointEvery",
  "keep",
  "profile",
  "countEvaluation",
];

/** What says something of this invocation alone. */
const ownKeys: readonly Key[] = ["out", "force", "resume", "dashboard"];

/**
 * The configuration with which a run goes on.
 *
 * @param stored - its `config.json`.
 * @param layers - what is set anew, the first one winning.
 * @throws CliError CONFLICT, naming what is set to another value and may not be; BAD_VALUE
 */
export function resumedConfig(stored: Layer, layers: readonly Layer[]): DecidedConfig {
  const before = decide(resolveOptions(trainSchema, [stored]));
  const anew: Record<string, unknown> = {};
  for (const layer of layers.toReversed()) {
    const values = checkedValues(trainSchema, layer);
    for (const [key, value] of Object.entries(values)) {
      if (isOneOf(changeableKeys, key)) anew[key] = value;
      else if (isOneOf(dataKeys, key)) {
        if (value !== null) anew[key] = value;
      } else if (!isOneOf(ownKeys, key)) requireSame(before, key as Key, value, layer.nameOf(key));
    }
  }
  const changes: Layer = { values: anew, nameOf: (key) => `--${flagName(key)}` };
  const merged = resolveTraining([changes, stored]);
  const follows =
    (anew["scheduleEpochs"] ?? null) === null &&
    before.schedule === "cosine" &&
    before.scheduleEpochs === before.epochs;
  // A fall that was to last as long as the run still does.
  return decide(follows ? { ...merged, scheduleEpochs: null } : merged);
}

/** What makes two parts of a run parts of the same one, the data aside. */
export function identityOf(config: DecidedConfig): Readonly<Record<string, unknown>> {
  const others = [...changeableKeys, ...dataKeys, ...ownKeys];
  return Object.fromEntries(Object.entries(config).filter(([key]) => !isOneOf(others, key)));
}

/** @throws CliError CONFLICT */
function requireSame(before: DecidedConfig, key: Key, value: unknown, name: string): void {
  const was = before[key];
  // Automatic: as it was decided.
  if (value === null && (ownNames.includes(key) || was === null)) return;
  const is = value === null ? decideAnew(before, key) : value;
  if (textOf(key, is) === textOf(key, was)) return;
  throw new CliError(
    "CONFLICT",
    `${name} is ${JSON.stringify(value)}, but the run that is to go on has ${JSON.stringify(was)}`,
    {
      hint: `leave it out; what a resumed run can be told anew is ${changeableKeys.map((each) => `--${flagName(each)}`).join(", ")}, and where its data lies`,
    },
  );
}

function decideAnew(before: DecidedConfig, key: Key): unknown {
  return decide({ ...before, [key]: null })[key];
}

function textOf(key: Key, value: unknown): string {
  if (key !== "cutoffs" || !Array.isArray(value)) return JSON.stringify(value);
  return JSON.stringify([...new Set(value.map(Number))].toSorted((a, b) => a - b));
}

function isOneOf(keys: readonly Key[], key: string): boolean {
  return (keys as readonly string[]).includes(key);
}
