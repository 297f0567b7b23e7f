import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elasticSgd } from "../src/index.js";
import { everyCase } from "./cases.js";
import { change } from "./mutations.js";
import { blended, drive, done, pushed } from "./support.js";
import { resume, tries } from "./tried-checkpoints.js";
import type { Try } from "./tried-checkpoints.js";

const refusal = (code: string) => expect.objectContaining({ code }) as Error;

describe.each(everyCase)("the state of a checkpoint of $name", (tried) => {
  const all = tries(tried);
  const policyOf = ({ scenario, size }: Try) => tried.create(scenario.run, size);

  it("is known again when it is read", () => {
    for (const each of all()) {
      const { state, devices } = each.saved;
      const policy = policyOf(each);
      expect(policy.checkState(state, { rows: each.scenario.rows, parameters: 9 })).toEqual(state);
      const ids = policy.devices(state).map(({ id }) => id);
      expect(ids).toEqual(devices.map(({ id }) => id));
    }
  });

  it("is refused for other data, and so is that of any other moment", () => {
    for (const each of all()) {
      const { rows, devices } = each.scenario;
      const { state } = each.saved;
      const policy = policyOf(each);
      const run = { rows, parameters: 9 };
      expect(() => policy.checkState(state, { ...run, rows: rows + 1 })).toThrow(
        refusal("INVALID_STATE"),
      );
      const [started] = policy.start({ ...run, devices });
      expect(() => policy.checkState(started, run)).toThrow(refusal("INVALID_STATE"));
      expect(() => policy.resume(started, null)).toThrow(refusal("INVALID_STATE"));
      expect(() => policy.resume(state, [])).toThrow(refusal("INVALID_SETUP"));
    }
  });

  it("is refused if it is changed, or else can be gone on from like any other", () => {
    const counts = { refused: 0, accepted: 0 };
    for (const [seed, each] of all().entries()) {
      const run = { rows: each.scenario.rows, parameters: 9 };
      const policy = policyOf(each);
      const infos = policy.devices(each.saved.state);
      for (const made of fc.sample(change, { seed, numRuns: 30 })) {
        const state = outcomeOf(() => policy.checkState(made(each.saved.state), run));
        if (state === null) counts.refused++;
        // Whoever reads it sees at once if the devices are not those that there are.
        else if (infos.length > 0 && sameDevices(policy.devices(state), infos)) {
          const scenario = { ...each.scenario, incidents: [] };
          resume(tried, scenario, each.size, { saved: { ...each.saved, state }, at: 0 });
          counts.accepted++;
        }
      }
    }
    expect(counts.refused).toBeGreaterThan(1000);
    expect(counts.accepted).toBeGreaterThan(20);
  });
});

const sameDevices = (some: unknown, others: unknown) =>
  JSON.stringify(some) === JSON.stringify(others);

/** What the function returns, null if it refuses as it should. Throws whatever else it throws. */
function outcomeOf<T>(check: () => T): T | null {
  try {
    return check();
  } catch (error) {
    const { name, code, message } = error as Error & { readonly code?: string };
    if (name !== "SchedulerError" || code !== "INVALID_STATE" || message.length > 300) throw error;
    return null;
  }
}

describe("what is wrong with a state", () => {
  const policy = elasticSgd({
    epochs: 1,
    schedule: { kind: "constant", rate: 0.1 },
    batch: 2,
    mergeEvery: 1,
    checkpointEvery: 1,
  });
  const run = { rows: 8, parameters: 4 };
  const setup = { ...run, devices: [0, 1].map((id) => ({ id, maxBatchRows: 4 })) };
  const { send, state } = drive(policy, setup);
  send(done(0), pushed(0), done(1), pushed(1), blended(1));
  const sound = JSON.stringify(state());

  it.each([
    ['"batchRows":2', '"batchRows":"x"', 'devices[0].batchRows is "x", expected a whole number'],
    ['"batchRows":2', '"batchRows":5', "batchRows of device 0 is 5, expected at most its 4"],
    [
      '"batchRows":2,',
      "",
      "devices[0].batchRows is missing, expected a whole number of at least 1",
    ],
    ['"id":1', '"id":0', "a second device's id is 0, expected its own"],
    ['"phase":"saving"', '"phase":"working"', 'phase is "working", expected "saving" or "stopped"'],
    ['"joined":[]', '"joined":{}', "joined is an object, expected a list"],
    ['"joined":[]', '"joined":[],"__proto__":{"x":1}', "__proto__ is an object, expected left out"],
    ['"role":"host"', '"role":"host","a":1', "devices[0].a is 1, expected left out"],
    ['"finish":null', '"finish":"time"', 'finish is "time", expected null'],
    ['"rows":8', '"rows":9', "queue.rows is 9, expected the training set's 8"],
    ['"position":4', '"position":8', "queue.position is 8, expected below 8"],
    ['"epochsDone":0', '"epochsDone":1', "epochsDone is 1, expected 0, by the queue"],
    ['"updates":0', '"updates":1', "devices[0].updates is 1, expected 0"],
    [
      '"returned":[]',
      '"returned":[{"epoch":0,"start":2,"count":3}]',
      "the end of a range of rows is 5, expected at most 4",
    ],
    [
      '"returned":[]',
      '"returned":[{"epoch":0,"start":0,"count":2},{"epoch":0,"start":1,"count":1}]',
      "queue.returned is a list of 2, expected in order, no row twice",
    ],
    [
      '"epoch":0,"position":4,"returned":[]',
      '"epoch":2000,"position":4,"returned":[{"epoch":0,"start":0,"count":1}]',
      "queue.epoch is 2000, expected at most 1000 after those that are done",
    ],
  ])("is said: %s -> %s", (before, after, message) => {
    expect(sound).toContain(before);
    const value: unknown = JSON.parse(sound.replace(before, after));
    expect(() => policy.checkState(value, run)).toThrow(message);
    expect(() => policy.checkState(value, run)).toThrow(refusal("INVALID_STATE"));
  });

  it("is said of what is no state at all", () => {
    expect(() => policy.checkState(null, run)).toThrow("the state is null, expected an object");
    expect(() => policy.checkState("x".repeat(9999), run)).toThrow(/^.{0,200}$/);
  });

  it("is nothing if nothing is", () => {
    expect(policy.checkState(JSON.parse(sound), run)).toEqual(state());
  });
});
