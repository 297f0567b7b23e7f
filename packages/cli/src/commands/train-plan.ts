import { describeShape } from "@heterosgd/model";
import { formatBytes, formatCount } from "../output/format.js";
import { pairLines } from "../output/table.js";
import { bytesToTake, threadBytes, type Plan } from "../plan.js";

const evaluatedWords = {
  test: "test rows",
  validation: "held-out training rows",
} as const;

/** What a run is about to do, for people. */
export function planLines(plan: Plan, available: number): readonly string[] {
  const { config, shape, parameters, memory } = plan;
  const { train, evaluation, evaluatedOn } = plan.data;
  const data = memory.trainData + memory.evaluationData;
  const evaluated =
    evaluation === null || evaluatedOn === null
      ? "nothing to evaluate (no --test, no --validation)"
      : `${formatCount(evaluation.rows)} ${evaluatedWords[evaluatedOn]}`;
  const work = memory.devices.reduce((sum, device) => sum + device.models + device.work, 0);
  return pairLines([
    [
      "data",
      `${formatCount(train.rows)} rows, ${formatCount(train.features.indices.length)} values; ${evaluated}`,
    ],
    ["network", `${describeShape(shape)}; ${formatCount(parameters)} parameters`],
    ["devices", config.devices],
    [
      "algorithm",
      `${config.algorithm}: ${formatCount(config.epochs)} ${config.epochs === 1 ? "epoch" : "epochs"}, ${config.optimizer} at ${config.learningRate}, ` +
        `batches of ${config.batchMin} to ${config.batch}, a merge every ${formatCount(config.megaBatch)} rows, seed ${config.seed}`,
    ],
    [
      "memory",
      `${formatBytes(data + bytesToTake(plan))}: data ${formatBytes(data)}, model ${formatBytes(memory.globalModels)}, ` +
        `devices ${formatBytes(work)}, their threads ${formatBytes(threadBytes(plan))}, ` +
        `row order ${formatBytes(memory.permutations)}; ${formatBytes(available)} are free`,
    ],
  ]);
}

/** The same for machines. */
export function planDocument(plan: Plan, available: number): unknown {
  const { config, data, shape, parameters, memory } = plan;
  return {
    data: {
      trainRows: data.train.rows,
      nonZeros: data.train.features.indices.length,
      evaluationRows: data.evaluation?.rows ?? 0,
      evaluatedOn: data.evaluatedOn,
    },
    shape,
    parameters,
    config,
    memory: { ...memory, stillToTake: bytesToTake(plan), available },
  };
}
