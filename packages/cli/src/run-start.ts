import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runFiles } from "@heterosgd/trainer";

/** What a run's first event says. */
export interface RunStart {
  readonly isSimulated: boolean;
}

/** Null where a run has no event yet, or none that can be read. */
export async function startOf(folder: string): Promise<RunStart | null> {
  const input = createReadStream(join(folder, runFiles.events), { encoding: "utf8" });
  try {
    for await (const line of createInterface({ input })) {
      const { type, simulated } = Object(JSON.parse(line)) as Record<string, unknown>;
      if (type !== "start" && type !== "resume") return null;
      return { isSimulated: simulated !== undefined };
    }
    return null;
  } catch {
    return null;
  } finally {
    input.destroy();
  }
}
