import type { BlendCommand } from "@heterosgd/scheduler";
import { ownerOf } from "../coordinator/model-table.js";
import type { Clock } from "./clock.js";
import type { SimulatedDevice } from "./simulated-device.js";
import { transferSeconds } from "./timing.js";

/**
 * Blends on the virtual clock. A reduction occupies the network, one after another, for as long as a
 * model takes over the slowest link of those whose models are terms. It begins at once, since its
 * terms have been pushed, and devices go on computing meanwhile. What a device makes of models that
 * it has (a replica drawn to the centre) takes no time of the network, and is done at once.
 *
 * @returns what begins a blend; `compute` makes the target when its time is over.
 */
export function createBlends(
  clock: Clock,
  devices: readonly SimulatedDevice[],
  modelBytes: number,
): (command: BlendCommand, compute: () => Promise<void>) => void {
  let networkFree = 0;

  function secondsOf({ target, terms }: BlendCommand): number {
    if (ownerOf(target) !== null) return 0;
    const owners = terms.map(({ model }) => ownerOf(model)).filter((owner) => owner !== null);
    const links = owners.map((owner) => devices[owner]!.timing.link);
    return Math.max(0, ...links.map((link) => transferSeconds(link, modelBytes)));
  }

  return (command, compute) => {
    const seconds = secondsOf(command);
    const from = seconds === 0 ? clock.now() : Math.max(clock.now(), networkFree);
    if (seconds > 0) networkFree = from + seconds;
    clock.schedule(from + seconds, compute);
  };
}
