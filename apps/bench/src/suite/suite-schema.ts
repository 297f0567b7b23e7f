/** The JSON of a suite, and nothing about running it. */
import { z } from "zod";

/** Options that the runner sets itself, and where a suite says them. */
const reserved: Readonly<Record<string, string>> = {
  train: "sets",
  test: "sets",
  sample: "sets",
  validation: "tuning",
  seed: "seeds",
  algorithm: "algorithms",
  devices: "platforms",
  profile: "platforms",
  epochs: "stop",
  target: "stop",
  maxTime: "stop",
  out: "--out",
  force: "--replace",
  config: "options",
};

const optionName = z
  .string()
  .regex(/^[a-z][A-Za-z0-9]*$/, "options are named as in config files, such as learningRate")
  .superRefine((name, context) => {
    if (!Object.hasOwn(reserved, name)) return;
    context.addIssue({ code: "custom", message: `the runner sets it; see ${reserved[name]}` });
  });

/** Values become part of file names. */
const optionText = z.string().refine((text) => !/\p{Surrogate}/u.test(text), "expected Unicode");

const optionValue = z.union(
  [optionText, z.number(), z.boolean(), z.null(), z.array(z.number()).min(1)],
  "expected text, a number, true, false, null or a list of numbers",
);
const options = z.record(optionName, optionValue);

/** Each is a run: more is no grid that anybody waits for, and it would fill the memory. */
const MOST_COMBINATIONS = 10_000;

const grid = z
  .record(optionName, z.array(optionValue).min(1))
  .refine(
    (lists) =>
      Object.values(lists).reduce((all, { length }) => all * length, 1) <= MOST_COMBINATIONS,
    `expected at most ${MOST_COMBINATIONS} combinations`,
  );

const name = z
  .string()
  .max(60, "expected at most 60 characters, as it becomes part of file names")
  .regex(
    /^[a-z0-9][a-z0-9.-]*$/i,
    "expected letters, digits, points and hyphens, as it becomes part of file names",
  );

const seed = z.int().min(0);

const stop = z.strictObject({
  epochs: z.int().min(1),
  /** Seconds, simulated where the run is. */
  maxTime: z.number().gt(0).optional(),
  /** Such as P@1>=0.6. */
  target: z.string().min(1).optional(),
});

const set = z
  .strictObject(
    {
      name,
      /** Both or neither: left out for a set of the data folder. */
      train: z.string().min(1).optional(),
      test: z.string().min(1).optional(),
      /** Over the suite's, member by member. */
      stop: stop.partial().optional(),
      /** Over the suite's; an algorithm's own win. */
      options: options.default({}),
      /** Instead of the suite's; an algorithm's own wins. */
      grid: grid.optional(),
      /** Names: those of the suite's that the set is run on. Left out: all. */
      platforms: z.array(z.string()).min(1).optional(),
      /** What single algorithms do otherwise on this set: by name, and over all else. */
      algorithms: z
        .record(
          z.string(),
          z.strictObject({
            /** Whether it is run on this set at all. */
            run: z.boolean().default(true),
            options: options.default({}),
            grid: grid.optional(),
          }),
        )
        .default({}),
    },
    {
      error: ({ code }) =>
        code === "invalid_type" ? "expected the name of a data set, or { name, … }" : undefined,
    },
  )
  .refine(
    ({ train, test }) => (train === undefined) === (test === undefined),
    "train and test: expected both files, or neither for a set of the data folder",
  );

const platform = z
  .strictObject({
    name,
    /** Simulated devices: a shipped profile's name, or a JSON file. Left out: real devices. */
    profile: z.string().min(1).optional(),
    devices: z.string().min(1).optional(),
  })
  .refine(
    ({ profile, devices }) => profile !== undefined || devices !== undefined,
    "expected a profile of simulated devices, or real devices such as cpu,cpu@0.5",
  );

const contestant = z.strictObject({
  /** What tables call it. Left out: the algorithm's name. */
  name: name.optional(),
  algorithm: name,
  options: options.default({}),
  /** Instead of the platform's, such as its CPU alone. */
  devices: z.string().min(1).optional(),
  /** Instead of the suite's. */
  grid: grid.optional(),
});

export const suiteSchema = z.strictObject({
  description: z.string().min(1),
  sets: z
    .array(z.preprocess((told) => (typeof told === "string" ? { name: told } : told), set))
    .min(1),
  platforms: z.array(platform).min(1),
  /** Of all runs. */
  options: options.default({}),
  algorithms: z.array(contestant).min(1),
  /** Every combination is tried for every algorithm; the best is taken. */
  grid: grid.default({}),
  tuning: z
    .strictObject({
      /** The held-out share of the training rows. */
      validation: z.number().gt(0).lt(1).default(0.1),
      seeds: z.array(seed).min(1).default([1]),
    })
    .default({ validation: 0.1, seeds: [1] }),
  seeds: z.array(seed).min(1),
  stop,
  /**
   * P@1 whose time is told: a number, or the best that one of the algorithms reaches, or a share of
   * that.
   */
  goal: z
    .union(
      [
        z.strictObject({ bestOf: z.string(), share: z.number().gt(0).max(1).optional() }),
        z.strictObject({ precision: z.number().gt(0).max(1) }),
      ],
      'expected { "bestOf": ALGORITHM }, with a "share" of it up to 1 if wanted, or { "precision": P@1 }',
    )
    .optional(),
  /**
   * Shares of the goal's algorithm's time at which the training loss of all is told, and with it how
   * busy devices are. Left out: neither is told.
   */
  losses: z.array(z.number().gt(0)).min(1).optional(),
});

const named = z.looseObject({ name: z.string() });

/** A suite as a folder of results keeps it: what the summaries take of it. */
export const savedSuiteSchema = z.looseObject({
  name: z.string(),
  description: z.string(),
  sets: z.array(
    named.extend({
      platforms: z.array(z.string()).optional(),
      algorithms: z.record(z.string(), z.looseObject({ run: z.boolean() })),
    }),
  ),
  platforms: z.array(named),
  algorithms: z.array(named),
  seeds: z.array(seed),
  goal: suiteSchema.shape.goal,
  losses: suiteSchema.shape.losses,
});

export type OptionValue = z.infer<typeof optionValue>;
export type Options = Readonly<Record<string, OptionValue>>;
export type Grid = Readonly<Record<string, readonly OptionValue[]>>;
export type SuiteDocument = z.infer<typeof suiteSchema>;
export type Platform = SuiteDocument["platforms"][number];
export type Goal = SuiteDocument["goal"];
