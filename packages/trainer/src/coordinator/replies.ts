/**
 * What a device's answers must look like. A device that answers anything else does not work, and is
 * to be treated like one that fails. A loss that is not finite is a proper answer: parameters
 * diverge on sound devices too.
 */
import type { ModelShape } from "@heterosgd/model";
import { parameterLayout } from "@heterosgd/model";
import type {
  DeviceOpened,
  DeviceSetup,
  DeviceUsage,
  EvaluateReply,
  ModelMemory,
  PushReply,
  StepReply,
} from "../device/api.js";
import { TrainerError } from "../errors.js";

const activities = ["training", "merging", "evaluating", "waiting"] as const;

/** Throws DEVICE_FAILED, naming the device, unless the answers are as they must be. */
export interface Replies {
  steps(replies: readonly StepReply[], asked: number): readonly StepReply[];
  push(reply: PushReply, norm: boolean): PushReply;
  evaluate(reply: EvaluateReply, rows: number): EvaluateReply;
  usage(usage: DeviceUsage): DeviceUsage;
}

export function repliesOf(device: string): Replies {
  function require(holds: boolean, what: string): void {
    if (!holds) throw wrongAnswer(device, what);
  }

  function usage(spent: DeviceUsage): DeviceUsage {
    for (const activity of activities) {
      const seconds: unknown = spent?.[activity];
      require(isAmount(seconds), `${String(seconds)} seconds of ${activity}`);
    }
    return spent;
  }

  return {
    steps(replies, asked) {
      const count = Array.isArray(replies) ? replies.length : 0;
      require(count === asked, `${count} answers to ${asked} batches`);
      for (const { nonZeros, seconds, loss, usage: spent } of replies) {
        const whole = Number.isSafeInteger(nonZeros) && nonZeros >= 0;
        require(whole, `a batch of ${String(nonZeros)} non-zeros`);
        require(isAmount(seconds), `a batch that took ${String(seconds)} seconds`);
        require(typeof loss === "number", `a loss that is ${String(loss)}`);
        usage(spent);
      }
      return replies;
    },
    push(reply, wanted) {
      const { norm } = reply;
      const fits = wanted ? typeof norm === "number" : norm === null;
      require(fits, `a norm that is ${String(norm)}`);
      usage(reply.usage);
      return reply;
    },
    evaluate(reply, rows) {
      const { sums } = reply;
      require(sums.rows === rows, `an evaluation of ${sums.rows} rows, asked for ${rows}`);
      for (const list of [sums.hits, sums.ndcg, sums.recall]) {
        require(list.length === sums.cutoffs.length, `${list.length} sums of a metric`);
        for (const sum of list) require(isAmount(sum), `a sum of metrics that is ${String(sum)}`);
      }
      usage(reply.usage);
      return reply;
    },
    usage,
  };
}

/** @throws TrainerError DEVICE_FAILED unless the device holds what it was asked to hold. */
export function checkOpened(
  device: string,
  { models }: DeviceOpened,
  { replicas, accumulators }: Pick<DeviceSetup, "replicas" | "accumulators">,
  shape: ModelShape,
  states: number,
): void {
  const { length } = parameterLayout(shape);
  const asked = replicas + accumulators;
  if (models.length !== asked) {
    throw wrongAnswer(device, `${models.length} models, asked for ${asked}`);
  }
  models.forEach(({ parameters, state }: ModelMemory, i) => {
    const arrays = i < replicas ? states : 0;
    if (state.length !== arrays) {
      throw wrongAnswer(device, `a model with ${state.length} states, asked for ${arrays}`);
    }
    for (const array of [parameters, ...state]) {
      if (array.length !== length) {
        throw wrongAnswer(device, `a model of ${array.length} elements, asked for ${length}`);
      }
    }
  });
}

function isAmount(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value < Infinity;
}

function wrongAnswer(device: string, what: string): TrainerError {
  return new TrainerError("DEVICE_FAILED", `${device} failed: it answered with ${what}`);
}
