/**
 * The first SIGINT, SIGTERM or SIGHUP ends a run in good order, a second SIGINT or SIGTERM ends the
 * process at once. While there is nothing to save yet, the first does too. A SIGHUP may mean something
 * else to the run: that its list of devices has changed.
 */
import { exitCodes, type ExitCode } from "./errors.js";

const codes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
} as const;

type SignalName = keyof typeof codes;

export interface Interruption {
  /** Aborted by the first signal once there is something to save. */
  readonly signal: AbortSignal;
  /** From now on the first signal only aborts `signal`. */
  saveFirst(): void;
  /** From now on a SIGHUP ends nothing where `isMeant` says that it was meant otherwise. */
  onHangup(isMeant: () => boolean): void;
  /** The exit code that a signal demands, null if there was none. */
  exitCode(): ExitCode | null;
  /** Leaves signals to the system again. */
  stopWatching(): void;
}

/** @param say - told what a signal brings about. */
export function watchSignals(say: (text: string) => void): Interruption {
  const controller = new AbortController();
  let hasSomethingToSave = false;
  let received: SignalName | null = null;
  let isMeantOtherwise: () => boolean = () => false;

  function on(name: SignalName): void {
    if (name === "SIGHUP" && isMeantOtherwise()) return;
    if (received !== null) {
      // A terminal that is closed sends it twice, through the system and through the shell.
      if (name === "SIGHUP") return;
      process.exit(codes[name]);
    }
    received = name;
    if (!hasSomethingToSave) {
      say(`stopped by ${name}; there was nothing to save yet`);
      dieOf(name);
    }
    say(`${name}: finishing the batches under way, then saving; again to stop at once`);
    controller.abort();
  }

  /** Ends the process by the signal itself: an exit would wait for a read that may never return. */
  function dieOf(name: SignalName): void {
    stopWatching();
    process.kill(process.pid, name);
    // The first process of a container survives its own signals.
    process.exit(codes[name]);
  }

  function stopWatching(): void {
    for (const remove of listeners) remove();
  }

  const listeners = (Object.keys(codes) as SignalName[]).map((name) => {
    const listener = () => on(name);
    process.on(name, listener);
    return () => void process.off(name, listener);
  });

  return {
    signal: controller.signal,
    saveFirst: () => void (hasSomethingToSave = true),
    onHangup: (isMeant) => void (isMeantOtherwise = isMeant),
    exitCode: () => (received === null ? null : codes[received]),
    stopWatching,
  };
}
