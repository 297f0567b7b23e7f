import { readFileSync } from "node:fs";

/** Instruction sets whose peak can be measured on this processor, the widest first. */
export function processorIsas(): readonly string[] {
  try {
    return isasOf(readFileSync("/proc/cpuinfo", "utf8"));
  } catch {
    // Not Linux.
    return ["portable"];
  }
}

/** Reads Linux's list of a processor's features. */
export function isasOf(cpuInfo: string): readonly string[] {
  const flags = new Set(/^flags\s*:(.*)$/mu.exec(cpuInfo)?.[1]?.split(" "));
  return [
    ...(flags.has("avx512f") ? ["avx512"] : []),
    ...(flags.has("avx2") && flags.has("fma") ? ["avx2"] : []),
    "portable",
  ];
}
