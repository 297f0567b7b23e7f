import { describeShape } from "@heterosgd/model";
import { counted, formatBytes, formatCount } from "../output/format.js";
import { formatSimulatedDevice } from "@heterosgd/trainer";
import { flagName } from "../config/option-flags.js";
import { ownValues } from "../config/own-options.js";
import { profileWords } from "../output/report.js";
import { kernelsWords } from "../output/kernels.js";
import { pairLines } from "../output/table.js";
import { bytesToTake, deviceMemory, memoryParts } from "../memory.js";
import type { Plan } from "../plan.js";

const evaluatedWords = {
  test: "test rows",
  validation: "held-out training rows",
} as const;

/**
 * What a run is about to do, for people.
 *
 * @param available - free bytes of memory.
 * @param disk - free bytes where the run's folder is to be, null where nobody can tell.
 */
export function planLines(plan: Plan, available: number, disk: number | null): readonly string[] {
  const { config, shape, parameters, memory } = plan;
  const { train, evaluation, evaluatedOn } = plan.data;
  const parts = memoryParts(memory).map(([what, bytes]) => `${what} ${formatBytes(bytes)}`);
  const evaluated =
    evaluation === null || evaluatedOn === null
      ? "nothing to evaluate (no --test, no --validation)"
      : `${formatCount(evaluation.rows)} ${evaluatedWords[evaluatedOn]}`;
  return pairLines([
    [
      "data",
      `${counted(train.rows, "row")}, ${counted(train.features.indices.length, "value")}; ${evaluated}`,
    ],
    ["network", `${describeShape(shape)}; ${formatCount(parameters)} parameters`],
    ["devices", devicesWords(plan)],
    ["kernels", kernelsWords(plan.kernels)],
    [
      "algorithm",
      `${config.algorithm}: ${counted(config.epochs, "epoch")}, ${config.optimizer} at ${config.learningRate}, seed ${config.seed}` +
        ownWords(config),
    ],
    [
      "memory",
      `${formatBytes(memory.total)}: ${parts.join(", ")}; ${formatBytes(available)} are free`,
    ],
    ...deviceMemory(plan).map(
      ({ name, bytes, room }) =>
        [
          `memory of ${name}`,
          room === null
            ? `${formatBytes(bytes)}, counted above: WebGL does not tell where it lies`
            : `${formatBytes(bytes)} of the ${formatBytes(room)} that a run may have there`,
        ] as const,
    ),
    ["checkpoints", checkpointsWords(plan, disk)],
  ]);
}

function checkpointsWords({ config, checkpoints }: Plan, disk: number | null): string {
  if (checkpoints === null) return "none (--checkpoint-every never)";
  const { checkpointEvery: when } = config;
  const how =
    typeof when === "number"
      ? `every ${counted(when, "merge")}`
      : when === "epoch" || when === "merge"
        ? `at each ${when}`
        : `every ${when}`;
  const free = disk === null ? "" : `; ${formatBytes(disk)} are free`;
  return (
    `${how} and at the end, of which the newest ${formatCount(checkpoints.keep)} and the best stay; ` +
    `${formatBytes(checkpoints.each)} each, up to ${formatBytes(checkpoints.disk)} on the disk${free}`
  );
}

function devicesWords({ config, simulation }: Plan): string {
  if (simulation === null) return config.devices;
  const names = simulation.devices.map(formatSimulatedDevice).join(",");
  return `${names}; simulated by ${profileWords(simulation.profile)}`;
}

/** The algorithm's own options, those left out that it works out by itself. */
function ownWords(config: Plan["config"]): string {
  const words = Object.entries(ownValues(config)).flatMap(([key, value]) => {
    if (value === null || value === false) return [];
    return value === true ? [flagName(key)] : [`${flagName(key)} ${value}`];
  });
  return words.length === 0 ? "" : `; ${words.join(", ")}`;
}

/** The same for machines. */
export function planDocument(plan: Plan, available: number, disk: number | null): unknown {
  const { config, data, shape, parameters, memory, checkpoints } = plan;
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
    kernels: plan.kernels,
    simulation: plan.simulation,
    memory: { ...memory, stillToTake: bytesToTake(memory), available },
    checkpoints:
      checkpoints === null
        ? null
        : { bytes: checkpoints.each, diskBytes: checkpoints.disk, diskAvailable: disk },
  };
}
