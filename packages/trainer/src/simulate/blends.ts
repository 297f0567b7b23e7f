import type { BlendCommand, DeviceId } from "@heterosgd/scheduler";
import { ownerOf } from "../coordinator/model-table.js";
import type { Clock } from "./clock.js";
import type { SimulatedDevice } from "./simulated-device.js";
import { transferSeconds } from "./timing.js";

export interface Blends {
  /** Begins once every device that is there has come to it in its queue. */
  begin(command: BlendCommand, compute: () => Promise<void>): void;
  /** Nobody waits for the device any more. */
  lost(device: DeviceId): void;
}

/**
 * Blends on the virtual clock. A reduction occupies the network, one after another, for as long as a
 * model takes over the slowest link of those whose models are terms; devices go on with what is
 * behind it in their queues. What a device makes of models that it has (a replica drawn to the
 * centre) takes no time of the network, and is done at once.
 */
export function createBlends(
  clock: Clock,
  devices: readonly SimulatedDevice[],
  modelBytes: number,
  onDone: (command: BlendCommand) => void,
): Blends {
  const waiting = new Set<{ readonly on: Set<DeviceId>; readonly start: () => void }>();
  let networkFree = 0;

  function secondsOf({ target, terms }: BlendCommand): number {
    if (ownerOf(target) !== null) return 0;
    const owners = terms.map(({ model }) => ownerOf(model)).filter((owner) => owner !== null);
    const links = owners.map((owner) => devices[owner]!.timing.link);
    return Math.max(0, ...links.map((link) => transferSeconds(link, modelBytes)));
  }

  return {
    begin(command, compute) {
      const present = devices.filter((device) => device.isThere());
      const start = () => {
        const seconds = secondsOf(command);
        const from = seconds === 0 ? clock.now() : Math.max(clock.now(), networkFree);
        if (seconds > 0) networkFree = from + seconds;
        clock.schedule(from + seconds, async () => {
          await compute();
          onDone(command);
        });
      };
      const blend = { on: new Set(present.map(({ info }) => info.id)), start };
      waiting.add(blend);
      for (const device of present) {
        device.give({
          activity: "merging",
          begin: () => ({
            until: clock.now(),
            land() {
              blend.on.delete(device.info.id);
              if (blend.on.size === 0 && waiting.delete(blend)) start();
            },
          }),
        });
      }
    },
    lost(device) {
      for (const blend of waiting) {
        if (blend.on.delete(device) && blend.on.size === 0 && waiting.delete(blend)) blend.start();
      }
    },
  };
}
