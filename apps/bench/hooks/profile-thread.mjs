// Preloaded into every thread of a run by `bench profile`: samples what the thread does, and leaves
// the samples in a file of its own when it ends.
import { mkdirSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";
import { threadId } from "node:worker_threads";

const folder = process.env.BENCH_PROFILES;
if (folder !== undefined) {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.setSamplingInterval", { interval: 1000 });
  session.post("Profiler.start");
  process.on("exit", () => {
    session.post("Profiler.stop", (error, result) => {
      if (error !== null) return;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${threadId}.cpuprofile`), JSON.stringify(result.profile));
    });
  });
}
