import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { adaptiveSgd } from "../src/index.js";
import type { Command, PolicyEvent } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import { byUpdates } from "./support.js";

/** One line of a recording: an event (null: the start) and what it was answered with. */
interface Recorded {
  readonly event: PolicyEvent | null;
  readonly commands: readonly Command[];
}

const path = fileURLToPath(new URL("recorded/one-lost-one-joined.jsonl", import.meta.url));

const policy = adaptiveSgd({
  epochs: 2,
  schedule: { kind: "cosine", rate: 0.5, epochs: 2 },
  merge: { ...byUpdates, momentum: 0.9 },
  batch: { max: 8, min: 2 },
  megaBatchRows: 40,
});
const devices = [1, 0.5, 0.75].map((speed, id) => ({ id, speed, maxBatchRows: 6 + id }));
const setup = { devices, rows: 75, parameters: 12 };

describe("a recorded run in which one device is lost and one joins", () => {
  it("goes as it went when it was recorded", async () => {
    const { events, commands } = runFake(policy, setup, [
      { at: 20, event: { type: "lost", device: 1, reason: "test" } },
      { at: 24, event: { type: "joined", device: { id: 3, maxBatchRows: 8 } }, speed: 2 },
    ]);
    const lines = commands.map((issued, i): Recorded => ({
      event: events[i - 1] ?? null,
      commands: issued,
    }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await expect(text).toMatchFileSnapshot(path);
  });

  it("gets the same commands for the same events, without any executor", () => {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const recording = lines.map((line) => JSON.parse(line) as Recorded);
    expect(recording.length).toBeGreaterThan(40);
    let [state, commands] = policy.start(setup);
    for (const recorded of recording) {
      if (recorded.event !== null) [state, commands] = policy.next(state, recorded.event);
      expect(commands).toEqual(recorded.commands);
    }
    expect(commands.at(-1)).toEqual({
      type: "stop",
      reason: "epochs",
      models: ["global", "previous"],
    });
  });
});
