import type { DeviceId } from "@heterosgd/scheduler";
import type { StepCall, StepReply } from "../device/api.js";
import type { DeviceCalls } from "./device-calls.js";
import type { Replies } from "./replies.js";

/** Unanswered steps with which a device has time until another step joins the next one. */
const PLENTY = 3;

/** One step, and what is to be done with its end. */
export interface StepRequest {
  readonly rows: number;
  readonly call: StepCall;
  readonly answer: (reply: StepReply) => void;
  readonly lost: () => void;
}

/**
 * Steps on their way to devices, several in one message where that keeps none waiting: a message
 * wakes a thread at either end, which costs more than all that is done about a step.
 */
export interface StepGroups {
  /** Takes on the device of the next id. */
  join(): void;
  add(device: DeviceId, step: StepRequest): void;
  /**
   * Sends what was added, but for a step that can wait for another. To be called before waiting for
   * answers.
   */
  send(): void;
  /** Sends all that was added. To be called before anything else is sent that must follow it. */
  flush(): void;
}

/** @param checks - of answers, - by device; more may come later, each with a `join`. */
export function createStepGroups(
  calls: Pick<DeviceCalls, "send">,
  checks: readonly Pick<Replies, "steps">[],
): StepGroups {
  const added: StepRequest[][] = checks.map(() => []);
  const unanswered = added.map(() => 0);

  function sendGroup(device: DeviceId, steps: readonly StepRequest[]): void {
    unanswered[device]! += steps.length;
    calls.send<readonly StepReply[]>(device, {
      rows: steps.reduce((sum, { rows }) => sum + rows, 0),
      async work(api) {
        const answers =
          steps.length === 1
            ? [await api.step(steps[0]!.call)]
            : await api.steps(steps.map(({ call }) => call));
        return checks[device]!.steps(answers, steps.length);
      },
      answer(replies) {
        unanswered[device]! -= steps.length;
        for (const [i, reply] of replies.entries()) steps[i]!.answer(reply);
      },
      lost() {
        unanswered[device]! -= steps.length;
        for (const { lost } of steps) lost();
      },
    });
  }

  function send(all: boolean): void {
    for (const [device, steps] of added.entries()) {
      const before = unanswered[device]!;
      if (steps.length === 0 || (!all && steps.length === 1 && before >= PLENTY)) continue;
      // While a group is answered for, the device must have as many steps left.
      const size = Math.max(1, Math.floor((before + steps.length) / 2));
      added[device] = [];
      for (let from = 0; from < steps.length; from += size) {
        sendGroup(device, steps.slice(from, from + size));
      }
    }
  }

  return {
    join() {
      added.push([]);
      unanswered.push(0);
    },
    add(device, step) {
      if (added[device] === undefined) {
        throw new RangeError(`the policy names device ${device}, which does not exist`);
      }
      added[device].push(step);
    },
    send: () => send(false),
    flush: () => send(true),
  };
}
