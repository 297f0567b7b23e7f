/** Every algorithm as it is tried over random runs. */
import {
  absSgd,
  adaptiveHogbatch,
  adaptiveSgd,
  asyncSgd,
  crossbow,
  easgd,
  elasticSgd,
  hogbatch,
  hogwild,
  lbBsp,
  localSgd,
  ssp,
  syncSgd,
} from "../src/index.js";
import type { Policy, Run, RunOptions } from "../src/index.js";
import { byUpdates } from "./support.js";
import type { Queued } from "./tried-checkpoints.js";

export interface Case<State = Run> {
  readonly name: string;
  create(run: RunOptions, size: number): Policy<State>;
  /** Whether the final model holds every row that counts as trained. */
  readonly exact: boolean;
  readonly hostsOnly?: boolean;
}

export const cases: readonly Case[] = [
  { name: "sync", exact: true, create: (run, batch) => syncSgd({ ...run, batch }) },
  { name: "lb-bsp", exact: true, create: (run, batch) => lbBsp({ ...run, batch }) },
  {
    name: "elastic",
    exact: true,
    create: (run, batch) => elasticSgd({ ...run, batch }),
  },
  {
    name: "local",
    exact: true,
    create: (run, batch) => localSgd({ ...run, batch, localSteps: 3 }),
  },
  {
    name: "easgd",
    exact: true,
    create: (run, batch) => easgd({ ...run, batch, mergeEvery: 2 }),
  },
  // A replica that restarts or is lost takes the gradient with it that z was to get next.
  { name: "crossbow", exact: false, create: (run, batch) => crossbow({ ...run, batch }) },
  {
    name: "abs-sgd",
    exact: true,
    create: (run, microBatch) => absSgd({ ...run, microBatch }),
  },
  {
    name: "abs-sgd with momentum",
    exact: true,
    create: (run, microBatch) =>
      absSgd({ ...run, microBatch, momentum: 0.5, learningRateRule: "linear" }),
  },
  { name: "async", exact: true, create: (run, batch) => asyncSgd({ ...run, batch }) },
  {
    name: "ssp",
    exact: true,
    create: (run, batch) => ssp({ ...run, batch, staleness: batch % 3, roundRows: 20 }),
  },
  {
    name: "hogwild",
    exact: true,
    hostsOnly: true,
    create: (run, messageRows) => hogwild({ ...run, messageRows }),
  },
  {
    name: "hogbatch",
    exact: true,
    create: (run, size) => hogbatch({ ...run, acceleratorBatch: 12, messageRows: size }),
  },
  {
    name: "hogbatch that overwrites",
    exact: false,
    create: (run, size) =>
      hogbatch({
        ...run,
        acceleratorBatch: 12,
        messageRows: size,
        accelerate: "overwrite",
        roundRows: 30,
      }),
  },
  {
    name: "adaptive-hogbatch",
    exact: true,
    create: (run, size) =>
      adaptiveHogbatch({
        ...run,
        hostMax: 4,
        acceleratorMin: 2,
        acceleratorMax: 16,
        messageRows: size,
      }),
  },
];

/** Adaptive SGD too, whose state is of its own kind. */
export const everyCase: readonly Case<Queued>[] = [
  ...cases,
  ...[true, false].map((dynamicDispatch): Case<Queued> => ({
    name: `adaptive-sgd, ${dynamicDispatch ? "dynamic" : "static"} dispatch`,
    exact: true,
    create: (run, size) =>
      adaptiveSgd({
        ...run,
        merge: { ...byUpdates, momentum: size % 2 === 0 ? 0.5 : 0 },
        batch: { max: size, min: Math.ceil(size / 4) },
        megaBatchRows: 4 * size,
        dynamicDispatch,
      }),
  })),
];
