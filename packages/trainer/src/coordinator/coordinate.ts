import type {
  Command,
  Policy,
  PolicyEvent,
  PolicySetup,
  Report,
  StopReason,
} from "@heterosgd/scheduler";
import type { Executor } from "./executor.js";

export interface CoordinateObserver {
  /** Every event, before the policy sees it. */
  readonly onEvent?: (event: PolicyEvent) => void;
  readonly onCommand?: (command: Command) => void;
  readonly onReport?: (report: Report) => void;
}

/**
 * The whole runtime in one loop: events in, policy, commands out. It knows no algorithm and no
 * device.
 *
 * @returns why the policy stopped.
 */
export async function coordinate<State>(
  policy: Policy<State>,
  setup: PolicySetup,
  executor: Executor,
  observer: CoordinateObserver = {},
): Promise<StopReason> {
  let [state, commands] = policy.start(setup);
  for (;;) {
    for (const command of commands) {
      observer.onCommand?.(command);
      if (command.type === "stop") return command.reason;
      if (command.type === "report") observer.onReport?.(command.report);
      else executor.execute(command);
    }
    const event = await executor.next();
    observer.onEvent?.(event);
    [state, commands] = policy.next(state, event);
  }
}
