import type { DeviceId, DeviceInfo } from "@heterosgd/scheduler";

/** A device as policies see it. */
export function deviceInfo(id: DeviceId, maxBatchRows: number, threads: number): DeviceInfo {
  return { id, maxBatchRows, ...(threads > 1 ? { threads } : {}) };
}
