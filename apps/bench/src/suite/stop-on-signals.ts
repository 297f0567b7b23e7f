/** The program was told to stop. */
export class Stopped extends Error {
  /** As shells have it: 130 of SIGINT, 143 of SIGTERM. */
  readonly exitCode: number;

  constructor(signal: keyof typeof exitCodes) {
    super(`stopped by ${signal}`);
    this.name = "Stopped";
    this.exitCode = exitCodes[signal];
  }
}

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Aborts with a `Stopped` at the first SIGINT or SIGTERM; a second one ends the program at once. */
export function stopOnSignals(): { readonly signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const onInterrupt = () => stop("SIGINT");
  const onTerminate = () => stop("SIGTERM");
  const dispose = () => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
  };
  function stop(signal: keyof typeof exitCodes): void {
    dispose();
    controller.abort(new Stopped(signal));
  }
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return { signal: controller.signal, dispose };
}
