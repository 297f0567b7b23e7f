import { clamp } from "../batch-size.js";
import type { BatchBounds } from "../batch-size.js";
import type { Policy } from "../contract.js";
import type { CheckedDevice } from "../common/devices.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import { requireOption } from "../errors.js";
import { accelerateOption, hogbatchModels, messageRowsOption } from "../hogbatch/models.js";
import type { Accelerate } from "../hogbatch/models.js";
import { orderFor } from "../hogbatch/order.js";
import type { SharedModelState } from "../shared-model/algorithm.js";
import { roundOption } from "../shared-model/options.js";
import type { RoundRowsOption } from "../shared-model/options.js";
import { sharedModelPolicy } from "../shared-model/policy.js";

interface OwnOptions extends RoundRowsOption {
  /** α, by which sizes grow and shrink. 2 if left out. */
  readonly alpha?: number;
  /** β, what a host's update counts for beside an accelerator's. 1 if left out. */
  readonly beta?: number;
  /** lo and hi of a host, rows a thread. 1 and 64 if left out. */
  readonly hostMin?: number;
  readonly hostMax?: number;
  /** lo and hi of an accelerator, rows; neither above N/16. 512 and 8192 if left out. */
  readonly acceleratorMin?: number;
  readonly acceleratorMax?: number;
  /** "add" if left out. */
  readonly accelerate?: Accelerate;
  /** Rows that a host is sent at a time, as many batches as they hold. 256 if left out. */
  readonly messageRows?: number;
}

/** Options of `adaptiveHogbatch`. */
export interface AdaptiveHogbatchOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const adaptiveHogbatchOptions = {
  alpha: { kind: "number", default: 2, above: 1, help: "Factor by which sizes grow and shrink." },
  beta: {
    kind: "number",
    default: 1,
    above: 0,
    max: 1,
    help: "What a host's update counts for beside an accelerator's.",
  },
  hostMin: { kind: "count", default: 1, min: 1, help: "Smallest batch of a host, rows a thread." },
  hostMax: { kind: "count", default: 64, min: 1, help: "Largest batch of a host, rows a thread." },
  acceleratorMin: {
    kind: "count",
    default: 512,
    min: 1,
    help: "Smallest batch of an accelerator; at most a sixteenth of the rows.",
  },
  acceleratorMax: {
    kind: "count",
    default: 8192,
    min: 1,
    help: "Largest batch of an accelerator; at most a sixteenth of the rows.",
  },
  accelerate: accelerateOption,
  messageRows: messageRowsOption,
  roundRows: roundOption,
} as const satisfies OptionTable<OwnOptions>;

/**
 * Adaptive Hogbatch: Hogbatch whose batch sizes move whenever a device asks for work, so that hosts
 * and accelerators come to equally many updates.
 *
 * ```text
 * E asks for work:   u_E < min of the others' u  →  b_E <- max(b_E/α, lo_E)
 *                    u_E > max of the others' u  →  b_E <- min(b_E·α, hi_E)
 * E is done:         accelerator: u_E += 1;  host: u_E += β·t      (each thread has made an update)
 * epoch's end:       all wait;  u <- 0
 * ```
 *
 * Hosts start at their smallest size, accelerators at their largest. A host's batch is split evenly
 * over its t threads. How updates reach the model, the constant learning rate, roles and queue
 * depth are as in `hogbatch`; a message to a host holds several batches of the size it has by then,
 * and counts for as many.
 *
 * Source: paper C (arXiv 2004.08771), Adaptive Hogbatch; the size of messages is ours.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function adaptiveHogbatch(options: AdaptiveHogbatchOptions): Policy<SharedModelState> {
  const settings = resolveOptions(adaptiveHogbatchOptions, options);
  const { alpha, beta, hostMin, hostMax, acceleratorMin, acceleratorMax } = settings;
  const { accelerate, messageRows, roundRows } = settings;
  requireOption(hostMin <= hostMax, "hostMin", hostMin, `at most hostMax, ${hostMax}`);
  requireOption(
    acceleratorMin <= acceleratorMax,
    "acceleratorMin",
    acceleratorMin,
    `at most acceleratorMax, ${acceleratorMax}`,
  );

  const maxBatchRows = Math.max(acceleratorMax, messageRows);

  /** lo_E and hi_E, of `rows` an epoch. */
  function boundsOf(device: CheckedDevice, rows: number): BatchBounds {
    const { role, threads } = device;
    const memory = Math.min(maxBatchRows, device.maxBatchRows);
    if (role === "host") return bounds(hostMin * threads, hostMax * threads, memory);
    const most = Math.max(1, Math.floor(rows / 16));
    return bounds(acceleratorMin, acceleratorMax, Math.min(most, memory));
  }

  return sharedModelPolicy({
    name: "adaptive-hogbatch",
    settings: resolveRun(options),
    maxBatchRows,
    roundRows,
    models: (devices) => hogbatchModels(devices, accelerate),
    queueDepth: 1,
    epochBarrier: true,
    batchRows: (device, rows) => {
      const { min, max } = boundsOf(device, rows);
      return device.role === "accelerator" ? max : min;
    },
    resize: (device, others, rows) => {
      if (others.length === 0) return device.batchRows;
      const us = others.map(({ credit }) => credit);
      const within = boundsOf(device, rows);
      if (device.credit < Math.min(...us)) return clamp(device.batchRows / alpha, within);
      if (device.credit > Math.max(...us)) return clamp(device.batchRows * alpha, within);
      return device.batchRows;
    },
    order: (device) => orderFor(device, accelerate, messageRows),
    credit: ({ role }, updates) => (role === "accelerator" ? updates : beta * updates),
  });
}

/** Both at most what there is room for. */
function bounds(min: number, max: number, most: number): BatchBounds {
  return { min: Math.min(min, most), max: Math.min(max, most) };
}
