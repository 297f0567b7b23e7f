/** Deaths of devices, from within the command's process but without its knowledge. */

/**
 * A module for `node --import` that ends the threads of devices, one after another in turn, and leaves a line in
 * a file for each: the run is to open them anew.
 *
 * @param everySeconds - of the process's time, from one death to the next.
 */
export function killerModule(everySeconds: number, log: string): string {
  const source = `
    import { appendFileSync } from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    import threads from "node:worker_threads";
    if (threads.isMainThread) {
      const living = [];
      threads.Worker = class extends threads.Worker {
        constructor(url, options) {
          super(url, options);
          const name = options?.name ?? "";
          if (!name.startsWith("device ")) return;
          const one = { name, worker: this };
          living.push(one);
          this.on("exit", () => {
            if (living.includes(one)) living.splice(living.indexOf(one), 1);
          });
        }
      };
      syncBuiltinESMExports();
      setInterval(() => {
        // The eldest: those that came last have had little time to do anything.
        const one = living.length > 1 ? living.shift() : undefined;
        if (one === undefined) return;
        appendFileSync(${JSON.stringify(log)}, one.name + "\\n");
        void one.worker.terminate();
      }, ${everySeconds * 1000}).unref();
    }`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
