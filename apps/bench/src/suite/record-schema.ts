/** What a run's record must be for the summaries to take it; what else it holds is kept as it is. */
import { z } from "zod";

const amount = z.number().min(0);
const text = z.string();
const option = z.union([text, z.number(), z.boolean(), z.null(), z.array(z.number())]);
const usage = z.object({ training: amount, waiting: amount }).catchall(amount);

const device = z.looseObject({ name: text, updates: amount, usage: usage.nullable() });

const point = z.looseObject({
  at: amount,
  rows: amount,
  precision: z.array(z.number()).min(1),
  ndcg: z.array(z.number()),
  loss: z.number().nullable(),
});

const result = z.looseObject({
  reason: text,
  cutoffs: z.array(z.number()),
  curve: z.array(point),
  devices: z.array(device),
  trainRows: amount,
  seconds: amount,
});

const environment = z.looseObject({
  node: text,
  processor: text,
  cores: amount,
  memoryGiB: amount,
  load: amount,
  commit: text.nullable(),
});

export const recordSchema = z.looseObject({
  format: z.literal(1),
  suite: text,
  set: text,
  platform: text,
  algorithm: text,
  stage: z.enum(["tuning", "test"]),
  seed: z.int(),
  tuned: z.record(text, option),
  file: text,
  verb: z.enum(["train", "simulate"]),
  command: text,
  environment,
  versions: z.looseObject({ heterosgd: text, node: text }),
  startedAt: text,
  wallSeconds: amount,
  jobs: amount,
  diverged: text.nullable(),
  result: result.nullable(),
});
