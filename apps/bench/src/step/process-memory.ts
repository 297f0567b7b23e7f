import { readFileSync } from "node:fs";

/** This process's resident memory in bytes. */
export interface ProcessMemory {
  readonly now: number;
  /** The most so far. */
  readonly peak: number;
}

export function processMemory(): ProcessMemory {
  try {
    return parseStatus(readFileSync("/proc/self/status", "utf8"));
  } catch {
    // Not Linux. There this figure may be the parent's, whose memory a new process shares at first.
    const peak = 1024 * process.resourceUsage().maxRSS;
    return { now: process.memoryUsage.rss(), peak };
  }
}

/** Reads Linux's /proc/PID/status. @throws Error if it lacks a figure. */
export function parseStatus(text: string): ProcessMemory {
  const figure = (name: string) => {
    const found = new RegExp(String.raw`^${name}:\s+(\d+) kB$`, "mu").exec(text);
    if (found === null) throw new Error(`the process's status lacks ${name}`);
    return 1024 * Number(found[1]);
  };
  return { now: figure("VmRSS"), peak: figure("VmHWM") };
}
