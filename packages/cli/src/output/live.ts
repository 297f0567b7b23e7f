/** Shows a run while it goes: status rows on a terminal, a line now and then elsewhere. */
import type { RunEvent } from "@heterosgd/trainer";
import { createBoard } from "./board.js";
import { counted, formatBytes, formatSeconds } from "./format.js";
import type { Output } from "./output.js";
import { createProgress, type ProgressLimits } from "./progress.js";
import { overallLine, statusLines } from "./status.js";

const FRAME_MS = 100;
/** Between two lines at least where nothing is redrawn. */
const LINE_SECONDS = 3;
/** After which a line is due even without an evaluation or a new epoch. */
const SILENCE_SECONDS = 60;

export interface LiveView {
  event(event: RunEvent): void;
  /** The run's seconds until now. */
  seconds(): number;
  /** Takes the status rows away. Also happens when the process exits. */
  close(): void;
}

/** @param log - gets every line, those that are too frequent for people too. */
export function showLive(
  output: Output,
  limits: ProgressLimits,
  log: (text: string) => void,
): LiveView {
  const progress = createProgress(limits);
  const began = performance.now();
  /** Seconds of earlier parts of a resumed run. */
  let earlier = 0;
  const real = () => earlier + (performance.now() - began) / 1000;
  let latest = 0;
  /** The run's own clock. */
  const seconds = () => (limits.isSimulated ? latest : real());
  /** When an event came, on the clock of people who watch. */
  const cameAt = (at: number) => (limits.isSimulated ? real() : at);
  const isTerminal =
    output.stderr.isTTY === true && output.verbosity !== "quiet" && process.env["TERM"] !== "dumb";
  const board = isTerminal ? createBoard(output.stderr) : null;
  let lastLine = -Infinity;

  const draw = () => board?.draw(statusLines(progress.snapshot(seconds())));
  const timer = board === null ? undefined : setInterval(draw, FRAME_MS);
  timer?.unref();
  if (board !== null) output.pin(board);

  function close(): void {
    clearInterval(timer);
    process.off("exit", close);
    board?.close();
    output.pin(null);
  }
  process.on("exit", close);

  function line(at: number): void {
    const text = overallLine(progress.snapshot(at));
    log(text);
    // Above the status rows there is room for each.
    if (board === null && cameAt(at) - lastLine < LINE_SECONDS) return;
    lastLine = cameAt(at);
    draw();
    output.say(text);
  }

  return {
    event(event) {
      progress.event(event);
      latest = event.at;
      switch (event.type) {
        case "start":
          lastLine = cameAt(event.at);
          break;
        case "resume": {
          if (!limits.isSimulated) earlier = event.at - real();
          lastLine = cameAt(event.at);
          const text = resumeWords(event);
          log(text);
          output.say(text);
          break;
        }
        case "saved": {
          const text = savedWords(event);
          log(text);
          output.detail(text);
          if (event.notRemoved !== null) {
            output.warn(`older checkpoints could not be removed: ${event.notRemoved}`);
          }
          break;
        }
        case "not-saved": {
          const text = `${event.reason}; training goes on`;
          log(text);
          output.warn(text);
          break;
        }
        case "add-failed": {
          const text = `a device could not be added: ${event.spec}: ${event.reason}`;
          log(text);
          output.warn(text);
          break;
        }
        case "evaluation":
          line(event.at);
          break;
        case "epoch":
          // The evaluation comes a moment later.
          if (!limits.evaluates) line(event.at);
          break;
        case "done":
          if (cameAt(event.at) - lastLine > SILENCE_SECONDS) line(event.at);
          break;
        case "lost": {
          const others = progress.snapshot(event.at).devices.some(({ lost }) => !lost);
          log(event.reason);
          output.warn(`${lostWords(event, others)}: ${event.reason}`);
          break;
        }
        case "retry-failed":
          log(event.reason);
          output.warn(`a device could not be opened anew: ${event.reason}`);
          break;
        case "joined": {
          const { id } = event.device;
          const { name = `device ${id}` } = progress.snapshot(event.at).devices[id] ?? {};
          const instead =
            event.replaces == null ? "" : `, instead of device ${event.replaces.device}`;
          const text = `a device has joined: ${name}${instead}`;
          log(text);
          output.say(text);
          break;
        }
        case "merge":
          output.detail(mergeWords(event));
          break;
        case "round":
          output.detail(roundWords(event));
          break;
        default:
      }
    },
    seconds,
    close,
  };
}

function resumeWords({ checkpoint, rows, exact }: RunEvent & { type: "resume" }): string {
  const how = exact ? "exactly as it would have done" : "on other devices";
  return `the run goes on from ${checkpoint}, after ${counted(rows, "row")}, ${how}`;
}

function savedWords({ checkpoint, bytes, seconds }: RunEvent & { type: "saved" }): string {
  return `saved ${checkpoint}: ${formatBytes(bytes)} in ${formatSeconds(seconds)}`;
}

function lostWords({ retry }: RunEvent & { type: "lost" }, others: boolean): string {
  if (retry != null) return `a device was lost and is opened anew (retry ${retry})`;
  return others ? "a device was lost, the others go on" : "the last device was lost";
}

function mergeWords({ merge, devices, perturbed }: RunEvent & { type: "merge" }): string {
  const each = (value: (device: (typeof devices)[number]) => string | number) =>
    devices.map(value).join("/");
  return (
    `merge ${merge}: updates ${each((device) => device.updates)}, ` +
    `batch ${each((device) => device.batchRows)} -> ${each((device) => device.nextBatchRows)}, ` +
    `weights ${each((device) => device.weight.toFixed(3))}${perturbed ? " (perturbed)" : ""}`
  );
}

function roundWords({ round, devices }: RunEvent & { type: "round" }): string {
  const each = (value: (device: (typeof devices)[number]) => string | number) =>
    devices.map(value).join("/");
  const stale = devices.some(({ staleness }) => (staleness ?? 0) > 0)
    ? `, staleness ${each(({ staleness }) => (staleness === null ? "-" : staleness.toFixed(1)))}`
    : "";
  return (
    `round ${round}: updates ${each((device) => device.updates)}, ` +
    `rows ${each((device) => device.rows)}, ` +
    `batch ${each((device) => device.batchRows)} -> ${each((device) => device.nextBatchRows)}${stale}`
  );
}
