import type { DeviceId, DeviceInfo } from "@heterosgd/scheduler";
import type { DeviceSpec } from "../device/device-spec.js";

/** A device as policies see it. */
export function deviceInfo(
  id: DeviceId,
  maxBatchRows: number,
  { threads, role }: Pick<DeviceSpec, "threads" | "role">,
): DeviceInfo {
  return {
    id,
    maxBatchRows,
    ...(threads > 1 ? { threads } : {}),
    ...(role === "host" ? {} : { role }),
  };
}
