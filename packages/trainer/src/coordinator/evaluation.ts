import { mergeMetrics, type MetricSums } from "@heterosgd/model";
import type { DeviceId } from "@heterosgd/scheduler";
import type { EvaluateReply } from "../device/api.js";
import type { DeviceCalls } from "./device-calls.js";
import type { Replies } from "./replies.js";

export interface EvaluationOptions {
  /** Slot of the model. */
  readonly model: number;
  /** Number of this evaluation, no other's. */
  readonly evaluation: number;
  readonly rows: number;
  /** Rows that a device evaluates in one call. */
  readonly chunk: number;
  readonly replies: (device: DeviceId) => Pick<Replies, "evaluate">;
  readonly onReply: (device: DeviceId, reply: EvaluateReply) => void;
  /** Gets the sums over all rows; null if there are none. */
  readonly onDone: (sums: MetricSums | null) => void;
}

interface Part {
  readonly start: number;
  readonly count: number;
}

/**
 * Shares the evaluation rows out over the devices as they become free; a lost device's go to the
 * others.
 */
export function shareOutEvaluation(calls: DeviceCalls, options: EvaluationOptions): void {
  const { model, evaluation, rows, chunk } = options;
  const evaluated: { readonly start: number; readonly sums: MetricSums }[] = [];
  const returned: Part[] = [];
  let next = 0;
  let outstanding = 0;

  function take(): Part | undefined {
    const again = returned.pop();
    if (again !== undefined || next >= rows) return again;
    const start = next;
    next = Math.min(rows, start + chunk);
    return { start, count: next - start };
  }

  function give(device: DeviceId): void {
    const part = take();
    if (part === undefined) return;
    outstanding++;
    calls.send(device, {
      rows: part.count,
      work: async (api) =>
        options
          .replies(device)
          .evaluate(await api.evaluate({ model, evaluation, ...part }), part.count),
      answer(reply) {
        outstanding--;
        options.onReply(device, reply);
        evaluated.push({ start: part.start, sums: reply.sums });
        give(device);
        if (outstanding === 0) finish();
      },
      lost() {
        outstanding--;
        returned.push(part);
        const [other] = calls.living();
        if (other !== undefined) give(other);
      },
    });
  }

  function finish(): void {
    // In file order: rounding then does not depend on which device was first.
    const inOrder = evaluated.toSorted((a, b) => a.start - b.start).map(({ sums }) => sums);
    options.onDone(inOrder.length > 0 ? mergeMetrics(inOrder) : null);
  }

  if (rows === 0) return finish();
  // Two parts a device, so that none waits for the coordinator.
  for (const device of [...calls.living(), ...calls.living()]) give(device);
}
