/**
 * Every option of every verb, once. Flags, help, defaults, checks of config files and environment
 * variables, the JSON Schema and the README's table all come from here.
 */
import { largestLearningRate } from "@heterosgd/scheduler";
import * as z from "zod";
import { parseDuration } from "../output/format.js";
import { defaultProfileWords, profileNames } from "./default-profile.js";
import {
  data,
  network,
  learning,
  stopping,
  choosing,
  running,
  saving,
  simulating,
  option,
} from "./option-look.js";
import { algorithmNames } from "./own-options.js";
import { ownShape } from "./own-shape.js";
import { watchingOptions } from "./watching-options.js";

const path = () => z.string().min(1).nullable().default(null);
const file = { group: data, value: "FILE", path: true } as const;
const count = () => z.int().min(1);
/** A layer's size is stored in 32 bits. */
const MOST_UNITS = 2 ** 32 - 1;
const amount = () => z.number().gt(0);
/** A switch that is off. */
const off = () => z.boolean().default(false);

/** Durations as text: a number and a unit, several of them added up. */
const durationPattern = /^(\d+(\.\d+)?(ms|s|m|h|d))+$/;

const options = {
  train: option(path(), file, "Training data; also the first argument of train."),
  test: option(path(), file, "Test data, evaluated while training and at the end."),
  sample: option(
    off(),
    { group: data },
    "Takes the bundled data set (WordNet hypernyms) instead of files.",
  ),
  validation: option(
    z.number().gt(0).lt(1).nullable().default(null),
    { group: data, value: "SHARE" },
    "Holds out this share of the training rows, drawn by the seed, and evaluates those instead of test data: for tuning.",
  ),
  labelNames: option(path(), file, "Names of the labels, one a line; kept in the model."),
  format: option(
    z.enum(["auto", "xc", "xc-rows", "libsvm"]).default("auto"),
    { group: data, value: "FORMAT" },
    "Format of data files. auto: xc if the file begins with three whole numbers, else libsvm. xc-rows: xc without its first line.",
  ),
  indexBase: option(
    z
      .union([z.literal(0), z.literal(1)])
      .nullable()
      .default(null),
    { group: data, value: "0|1" },
    "Number of the first feature in libsvm files; never guessed. Automatic: as when the model was trained, else 1.",
  ),
  labelValues: option(
    z.enum(["names", "ids"]).nullable().default(null),
    { group: data, value: "KIND" },
    "What labels of libsvm files are: names (any whole numbers, mapped to labels in ascending order) or ids (0, 1, 2 …). " +
      "Automatic: as when the model was trained, else ids with --label-names, else names.",
  ),
  duplicates: option(
    z.enum(["error", "sum"]).default("error"),
    { group: data, value: "RULE" },
    "What becomes of a feature given twice in a row.",
  ),
  wider: option(
    z.enum(["error", "drop"]).default("error"),
    { group: data, value: "RULE" },
    "What becomes of features and labels that the model does not have.",
  ),

  hidden: option(
    z.array(z.int().min(1).max(MOST_UNITS)).min(1).default([128]),
    { group: network, value: "UNITS" },
    "Units of the hidden layers, separated by commas.",
  ),
  activation: option(
    z.enum(["relu", "sigmoid", "tanh"]).default("relu"),
    { group: network, value: "NAME" },
    "Activation of the hidden layers.",
  ),
  loss: option(
    z.enum(["softmax", "sigmoid"]).default("softmax"),
    { group: network, value: "NAME" },
    "softmax: labels compete, scores of a row add up to 1. sigmoid: each label is decided by itself.",
  ),
  initialScale: option(
    amount().default(1),
    { group: network, value: "X" },
    "Multiplies the initial weights.",
  ),

  optimizer: option(
    z.enum(["sgd", "adagrad", "adam"]).nullable().default(null),
    { group: learning, value: "NAME" },
    "How a device updates its replica. Rare labels learn slowly with sgd, the only one for algorithms that add gradients. " +
      "Automatic: adam where the algorithm takes it, but sgd on a shared model.",
  ),
  learningRate: option(
    amount().max(largestLearningRate).nullable().default(null),
    {
      group: learning,
      value: "RATE",
      short: "l",
      expected: "a number above 0 and at most 3.4e38, float32's largest",
    },
    "Learning rate of a batch of the nominal size. Automatic: by the optimizer, and smaller where devices step row by row.",
  ),
  schedule: option(
    z.enum(["constant", "step", "cosine", "inverse"]).default("cosine"),
    { group: learning, value: "NAME" },
    "How the learning rate falls.",
  ),
  scheduleEpochs: option(
    amount().nullable().default(null),
    { group: learning, value: "N" },
    "step: epochs between two falls, automatic 1. cosine: epochs until the end of the fall, automatic the run's.",
  ),
  scheduleFactor: option(
    amount().default(0.5),
    { group: learning, value: "X" },
    "step: what each fall multiplies by.",
  ),
  scheduleFinal: option(
    z.number().min(0).default(0),
    { group: learning, value: "RATE" },
    "cosine: the learning rate at the end of the fall.",
  ),
  scheduleDecay: option(
    z.number().min(0).default(0.1),
    { group: learning, value: "X" },
    "inverse: the d of rate / (1 + d · epochs).",
  ),
  warmupEpochs: option(
    z.number().min(0).default(0),
    { group: learning, value: "N" },
    "Epochs at the start over which the learning rate rises from 0.",
  ),

  epochs: option(
    count().default(10),
    { group: stopping, value: "N", short: "e" },
    "Passes over the training rows.",
  ),
  maxSteps: option(
    count().nullable().default(null),
    { group: stopping, value: "N" },
    "Ends the run after this many updates, those of all devices together.",
  ),
  maxTime: option(
    z
      .union([amount(), z.string().regex(durationPattern)])
      .nullable()
      .default(null),
    {
      group: stopping,
      value: "TIME",
      expected: "seconds, or a duration such as 90s, 10m or 1h30m",
    },
    "Ends the run after this time: seconds, or 10m, 1h30m.",
  ),
  target: option(
    z.string().min(1).nullable().default(null),
    { group: stopping, value: "METRIC", expected: "such as P@1>=0.6" },
    "Ends the run once an evaluation reaches it, such as P@1>=0.6.",
  ),
  patience: option(
    count().nullable().default(null),
    { group: stopping, value: "N" },
    "Ends the run after this many evaluations in a row without a new best of the target's metric, or else of P@ the first cut-off.",
  ),
  seed: option(
    z
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .default(1),
    { group: stopping, value: "N", short: "s" },
    "Decides the initial weights, every epoch's order and what --validation holds out.",
  ),

  algorithm: option(
    z.enum(algorithmNames).default("adaptive-sgd"),
    { group: choosing, value: "NAME" },
    "How the devices work together.",
  ),
  paper: option(
    off(),
    { group: choosing },
    "The values published with the algorithm, for everything that is not set otherwise. adaptive-sgd: --batch-scaling proportional, " +
      "--merge normalized, --perturbation 0.1, --norm-threshold 0.1, --momentum 0.9. The paper's optimizer is --optimizer sgd, which it does not set.",
  ),

  devices: option(
    z.string().min(1).default("auto"),
    {
      group: running,
      value: "LIST",
      short: "d",
      expected: "auto, or a list such as cpu,cpu@0.5, 2*cpu, cpu:4, cuda, opencl:gpu or gpujs",
    },
    "What to run on: auto (GPUs that there are, the fastest first, then the processor; without GPUs one cpu device a core), " +
      "or a list such as cpu,cpu@0.5, 2*cpu, cpu:4, cuda, cuda:1, opencl, opencl:cpu or gpujs. " +
      "@0.5 idles down to half speed, :4 shares each batch out over four threads (native kernels only), " +
      ":role=accelerator has it take an accelerator's part, for algorithms that tell hosts and accelerators apart. " +
      "cuda and opencl name a technology, :1 which of its devices, :gpu or :cpu the first of OpenCL's of that kind. " +
      "gpujs is gpu.js on headless-gl, gpujs:webasm and gpujs:cpu are gpu.js without a GPU, :process has it run in a process of its own.",
  ),
  kernels: option(
    z.enum(["auto", "native", "wasm", "plain"]).default("auto"),
    { group: running, value: "NAME" },
    "What computes on cpu devices. native: machine code for this processor. wasm: WebAssembly with SIMD. plain: readable TypeScript, slow. " +
      "auto: native where it can be had, else wasm; heterosgd devices says which and why.",
  ),
  bf16: option(
    off(),
    { group: running },
    "Takes the output layer's products in bfloat16, with native kernels on processors that can; sums and parameters stay float32.",
  ),
  require: option(
    off(),
    { group: running },
    "Makes it an error if anything is taken in place of what would be best: wasm kernels where there are no native ones, " +
      "a run without a GPU that can't be used, smaller batches for want of a GPU's memory.",
  ),
  evaluateEvery: option(
    z.union([z.enum(["epoch", "merge", "never"]), count()]).default("epoch"),
    {
      group: running,
      value: "WHEN",
      expected: "epoch, merge, never or a whole number of at least 1",
    },
    "When to evaluate: at each epoch's end, at each merge (round, where nothing is merged), every N of them, or never (only at the end).",
  ),
  cutoffs: option(
    z.array(count()).min(1).default([1, 3, 5]),
    { group: running, value: "LIST" },
    "The k of P@k, nDCG@k and R@k.",
  ),
  out: option(
    path(),
    { group: running, value: "FOLDER", short: "o", path: true },
    "Folder of the run. Automatic: a new one under runs/.",
  ),
  force: option(off(), { group: running }, "Replaces the run that is in the folder."),
  ...watchingOptions,
  checkpointEvery: option(
    z
      .union([
        z.enum(["epoch", "merge", "never"]),
        count(),
        z
          .string()
          .regex(durationPattern)
          .refine((text) => parseDuration(text) > 0),
      ])
      .default("10m"),
    {
      group: saving,
      value: "WHEN",
      expected:
        "a duration such as 10m or 1h30m, epoch, merge, never or a whole number of at least 1",
    },
    "When to write a checkpoint: every so often (10m, 1h30m), at each epoch's end, at each merge (round, where nothing is merged), every N of them; " +
      "the end of the run is one in any case. never: none at all, and nothing to resume from.",
  ),
  keep: option(
    count().default(2),
    { group: saving, value: "N" },
    "How many of the newest checkpoints stay; that of the best P@ the first cut-off stays as well.",
  ),
  resume: option(
    path(),
    { group: saving, value: "RUN", path: true },
    "Goes on with the run in this folder from its newest checkpoint, or from one of its checkpoints that is named; starts it where there is none yet. " +
      "Its config.json says what it is; devices, length, learning rate and checkpoints may be set anew.",
  ),
  minDevices: option(
    count().default(1),
    { group: saving, value: "N" },
    "Ends the run, after saving, when fewer devices are left, those that are being opened anew included.",
  ),
  deviceRetries: option(
    z.int().min(0).default(2),
    { group: saving, value: "N" },
    "How often a device that is lost is opened anew, after 1 s, then twice as long each time.",
  ),
  profile: option(
    path(),
    { group: simulating, value: "PROFILE", path: true, names: profileNames },
    `Of simulate: what is simulated, ${profileNames.join(", ")}, or a JSON file. Automatic: ${defaultProfileWords()}. ` +
      "--devices then names devices of its kinds, such as gpu,gpu@0.8, auto those of it that the algorithm has a use for.",
  ),
  countEvaluation: option(
    off(),
    { group: simulating },
    "Of simulate: evaluations take simulated time too.",
  ),

  topK: option(
    count().default(5),
    { group: "Predictions", value: "N", short: "k" },
    "Labels a row, best first.",
  ),
  threshold: option(
    z.number().min(0).max(1).default(0),
    { group: "Predictions", value: "SCORE" },
    "Leaves out labels scored below it.",
  ),
};

const { topK, threshold, ...commonOptions } = options;

const commonSchema = z.strictObject(commonOptions);

/**
 * What `train` can be told, by flag, config file or environment. The type has what all algorithms
 * have; `ownValues` reads what is an algorithm's own.
 */
export const trainSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(commonOptions).flatMap(([key, type]) =>
      // After what chooses the algorithm.
      key === "paper" ? [[key, type], ...Object.entries(ownShape)] : [[key, type]],
    ),
  ),
) as z.ZodType as typeof commonSchema;

const readingKeys = {
  sample: true,
  format: true,
  indexBase: true,
  labelValues: true,
  duplicates: true,
  wider: true,
} as const;

export const evalSchema = trainSchema.pick({
  ...readingKeys,
  devices: true,
  kernels: true,
  require: true,
  cutoffs: true,
});

/** What `train` itself can be told on the command line. */
export const realSchema = trainSchema.omit({ profile: true, countEvaluation: true });

/** What `simulate` can be told on the command line: its devices come and go as they are told to. */
export const simulateSchema = trainSchema.omit({
  minDevices: true,
  deviceRetries: true,
  dashboard: true,
});

/** What `devices --calibrate` measures: training as `train` would do it. */
export const calibrateSchema = trainSchema.pick({
  train: true,
  format: true,
  indexBase: true,
  labelValues: true,
  duplicates: true,
  hidden: true,
  activation: true,
  loss: true,
  optimizer: true,
  devices: true,
  kernels: true,
  bf16: true,
  force: true,
});

export const predictSchema = trainSchema
  .pick({ ...readingKeys, kernels: true })
  .extend({ topK, threshold });

export const inspectSchema = trainSchema.pick({ ...readingKeys }).omit({ wider: true });

/** An object schema all of whose members are options. */
export type OptionSchema = z.ZodObject<Record<string, z.ZodType>>;

export type TrainConfig = z.output<typeof trainSchema>;
export type InspectConfig = z.output<typeof inspectSchema>;
