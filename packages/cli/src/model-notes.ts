/** The notes in a model file that say how to read more data for it, and where it comes from. */
import { profileNames } from "./config/default-profile.js";
import type { TrainConfig } from "./config/schema.js";
import type { ReadingOptions, TrainingData } from "./data.js";

export interface ModelNotes {
  /** Of the data it was trained on. */
  readonly format: "xc" | "libsvm";
  readonly indexBase: 0 | 1;
  readonly labelValues: "names" | "ids";
}

/** @param config - kept without paths, which are nobody else's business. */
export function notesFor(
  config: TrainConfig,
  data: Pick<TrainingData, "format" | "labelValues">,
  facts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const {
    train: _train,
    test: _test,
    labelNames: _names,
    out: _out,
    force: _force,
    resume: _resume,
    profile,
    ...rest
  } = config;
  const isNamed = profile !== null && profileNames.includes(profile);
  return {
    ...facts,
    format: data.format,
    indexBase: String(config.indexBase ?? 1),
    labelValues: data.labelValues,
    config: JSON.stringify(isNamed ? { ...rest, profile } : rest),
  };
}

/** The notes of any model file; those that it lacks are as in XC data. */
export function notesOf(info: Readonly<Record<string, string>>): ModelNotes {
  return {
    format: info["format"] === "libsvm" ? "libsvm" : "xc",
    indexBase: info["indexBase"] === "0" ? 0 : 1,
    labelValues: info["labelValues"] === "names" ? "names" : "ids",
  };
}

/** Options of reading, where they are left open as they were when the model was trained. */
export function withNotes<T extends ReadingOptions>(
  config: T,
  info: Readonly<Record<string, string>>,
): T {
  const { indexBase, labelValues } = notesOf(info);
  return {
    ...config,
    indexBase: config.indexBase ?? indexBase,
    labelValues: config.labelValues ?? labelValues,
  };
}
