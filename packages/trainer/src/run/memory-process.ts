import { readFileSync } from "node:fs";
import { Session } from "node:inspector";

/** What this process holds in memory, in bytes, shared pages and those of its program included. */
export interface ProcessMemory {
  readonly now: number;
  /** The most so far. */
  readonly peak: number;
}

export function processMemory(): ProcessMemory {
  try {
    return parseStatus(readFileSync("/proc/self/status", "utf8"));
  } catch {
    // Not Linux, where that figure may be of whatever process this one was forked from.
    const now = process.memoryUsage.rss();
    return { now, peak: Math.max(now, process.resourceUsage().maxRSS * 1024) };
  }
}

function parseStatus(text: string): ProcessMemory {
  const figure = (name: string) => {
    const found = new RegExp(String.raw`^${name}:\s+(\d+) kB$`, "mu").exec(text);
    if (found === null) throw new Error(`the process's status lacks ${name}`);
    return 1024 * Number(found[1]);
  };
  return { now: figure("VmRSS"), peak: figure("VmHWM") };
}

/**
 * Gives back what nothing refers to any more, such as the arrays that a data set outgrew while it was
 * read: the engine would do so some time later, beside all that a run takes meanwhile. Where it can't
 * be asked, nothing is done.
 */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  try {
    session.connect();
    await new Promise((resolve) => session.post("HeapProfiler.collectGarbage", resolve));
  } catch {
    // A build of Node without its inspector.
  } finally {
    session.disconnect();
  }
}
