import type { GpujsDevice, GpujsLack, GpujsNodeMode, GpujsSupport } from "../api.js";
import { messageOf } from "../../lack.js";
import { openChild } from "./child.js";
import type { Probed } from "./messages.js";

/** Modes that a process is asked for: a driver that crashes takes its own alone. */
const groups: readonly (readonly GpujsNodeMode[])[] = [["headlessgl"], ["webasm", "cpu"]];
const patienceMs = 60_000;

let known: Promise<GpujsSupport> | undefined;

/**
 * What gpu.js can compute on here. It looks in a child process, once: the thread that loads headless-gl first would
 * take it from all others, and a driver that crashes takes that process alone.
 *
 * Never throws: what can't be had has its reason, and a remedy.
 */
export function gpujsSupport(): Promise<GpujsSupport> {
  return (known ??= find());
}

async function find(): Promise<GpujsSupport> {
  const devices: GpujsDevice[] = [];
  const lacking: GpujsLack[] = [];
  for (const found of (await Promise.all(groups.map(ask))).flat()) {
    if ("device" in found) devices.push(found.device);
    else lacking.push(found.lack);
  }
  return { devices, lacking };
}

async function ask(modes: readonly GpujsNodeMode[]): Promise<readonly Probed[]> {
  const found: Probed[] = [];
  const give = (reason: string): readonly Probed[] => {
    const remedy = "use another mode of gpu.js, or another driver";
    return [
      ...found,
      ...modes.slice(found.length).map((mode) => ({ lack: { mode, reason, remedy } })),
    ];
  };
  let timer: NodeJS.Timeout | undefined;
  let child: ReturnType<typeof openChild> | undefined;
  try {
    child = openChild();
    const { ask: request } = child;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`looking for gpu.js took longer than ${patienceMs / 1000} s`);
      timer = setTimeout(() => reject(error), patienceMs);
    });
    for (const mode of modes) {
      found.push((await Promise.race([request({ name: "probe", mode }), late])) as Probed);
    }
    return found;
  } catch (error) {
    return give(messageOf(error));
  } finally {
    clearTimeout(timer);
    child?.end();
  }
}
