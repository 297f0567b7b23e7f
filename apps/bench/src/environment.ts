import { execFileSync } from "node:child_process";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** Where a figure comes from: quoted with every result. */
export interface Environment {
  readonly node: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Load average of the last minute, when the program started. */
  readonly load: number;
  /** Commit of the code, with `+` if files were changed; null outside a repository. */
  readonly commit: string | null;
}

export function environment(): Environment {
  return {
    node: process.version,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: Math.round(loadavg()[0]! * 100) / 100,
    commit: commit(),
  };
}

export function describeEnvironment(of: Environment): string {
  const { node, processor, cores, memoryGiB, load } = of;
  return `${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node}, load ${load} at the start, commit ${of.commit ?? "unknown"}`;
}

function commit(): string | null {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      // Whatever folder the program was started in.
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    const changed = git("status", "--porcelain", "--untracked-files=no") !== "";
    return `${git("rev-parse", "--short", "HEAD")}${changed ? "+" : ""}`;
  } catch {
    return null;
  }
}
