import type { DeviceId } from "@heterosgd/scheduler";
import type { Clock } from "./clock.js";
import type { SimulatedDevice } from "./simulated-device.js";

/**
 * Has something happen once every device that is there has come to it in its queue. No device may leave
 * meanwhile.
 */
export function atBarrier(
  clock: Clock,
  devices: readonly SimulatedDevice[],
  happen: () => Promise<void>,
): void {
  const present = devices.filter(({ isThere }) => isThere());
  // The policy may not know yet that the last one has left.
  if (present.length === 0) return clock.schedule(clock.now(), happen);
  const waiting = new Set<DeviceId>(present.map(({ info }) => info.id));
  for (const { info, give } of present) {
    give({
      activity: "merging",
      begin: () => ({
        until: clock.now(),
        async land() {
          waiting.delete(info.id);
          if (waiting.size === 0) await happen();
        },
      }),
    });
  }
}
