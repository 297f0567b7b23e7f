/** Peers that tell of each epoch in a line of JSON: PyTorch and TensorFlow.js. */
import type { Milestone, Outcome, Settings } from "./outcome.js";
import { runPeer } from "./run-peer.js";

/** What a driver says first. */
type First = { readonly ready: string } | { readonly missing: string };

export interface LinePeer {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Time beyond training: starting, reading, evaluating. */
const SPARE_SECONDS = 300;

/**
 * @throws Error with what it printed, if it ends otherwise than well or says what is not understood.
 */
export async function runLinePeer(
  { command, environment }: LinePeer,
  { epochs, maxSeconds }: Settings,
): Promise<Outcome> {
  let complaints = "";
  let text = "";
  const end = await runPeer({
    command,
    environment,
    maxSeconds: maxSeconds + SPARE_SECONDS,
    onText(stream, part) {
      if (stream === "stdout") text += part;
      else complaints += part;
    },
  });
  const [first, ...milestones] = linesOf(text);
  if (end.code !== 0 || first === undefined || !("ready" in (first as First))) {
    throw new Error(`${command.join(" ")} failed (${end.code}): ${complaints.trim() || text}`);
  }
  const stopped =
    milestones.length < epochs || (milestones.at(-1) as Milestone).seconds > maxSeconds;
  return { milestones: milestones as Milestone[], peak: end.peak, stopped };
}

function linesOf(text: string): readonly unknown[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}
