import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { run, temporaryFolder, writeEasyData } from "./command.js";
import { readEventFile, type ReadEvent } from "./event-reader.js";
import { eventsOf } from "./run-events.js";

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
const command = (...args: string[]) => run(args, { folder });
const small = ["train.txt", "--test", "test.txt", "--hidden", "8", "-b", "8", "--devices", "cpu"];
const LONG = 120_000;

beforeAll(() => writeEasyData(folder));

/** The files in a folder, in the order in which TensorBoard reads them. */
function filesIn(...names: string[]): readonly (readonly ReadEvent[])[] {
  return readdirSync(path(...names))
    .toSorted()
    .map((name) => readEventFile(readFileSync(path(...names, name))));
}

const values = (events: readonly ReadEvent[], tag: string) =>
  events.flatMap(({ scalars }) => scalars.get(tag) ?? []);

describe("a run on two devices", () => {
  let events: readonly ReadEvent[] = [];
  let began = 0;

  beforeAll(async () => {
    began = Date.now() / 1000;
    const args = ["--devices", "cpu,cpu@0.5", "--epochs", "3", "--out", "first", "--tensorboard"];
    await command("train", ...small, ...args);
    [events = []] = filesIn("first", "tensorboard");
  }, LONG);

  test("has what its events say of evaluations", () => {
    const precision = eventsOf(path("first")).flatMap((event) =>
      event.type === "evaluation" ? (event.metrics.precision[0] ?? []) : [],
    );
    expect(precision.length).toBeGreaterThan(2);
    expect(values(events, "evaluation/P@1")).toEqual(precision.map(Math.fround));
  });

  test("has a point for each merge, at the updates until then", () => {
    const merges = eventsOf(path("first")).flatMap((event) =>
      event.type === "merge" ? [event] : [],
    );
    let step = 0;
    const steps = merges.map(({ devices }) => {
      return (step += devices.reduce((sum, { updates }) => sum + updates, 0));
    });
    const points = events.filter(({ scalars }) => scalars.has("loss/train"));
    expect(points.map((point) => point.step)).toEqual(steps);
    for (const device of [0, 1]) {
      const name = device === 0 ? "device 0 (cpu)" : "device 1 (cpu@0.5)";
      const each = merges.map(({ devices }) => devices.find((one) => one.device === device)!);
      const expected = {
        batch_rows: each.map(({ batchRows }) => batchRows),
        updates: each.map(({ updates }) => updates),
        learning_rate: each.map(({ learningRate }) => Math.fround(learningRate)),
        merge_weight: each.map(({ weight }) => Math.fround(weight)),
      };
      for (const [tag, series] of Object.entries(expected)) {
        expect(values(events, `${tag}/${name}`), tag).toEqual(series);
      }
    }
    expect(values(events, "loss/train").at(-1)).toBeLessThan(values(events, "loss/train")[0]!);
    expect(values(events, "progress/epochs").at(-1)).toBe(3);
  });

  test("tells the time", () => {
    const times = events.map(({ wallTime }) => wallTime);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(began);
    expect(times.at(-1)).toBeLessThanOrEqual(Date.now() / 1000);
  });
});

test(
  "a run that goes on appends a file, before which later steps do not count",
  async () => {
    const args = ["--epochs", "2", "--out", "part", "--tensorboard", "logs"];
    expect((await command("train", ...small, ...args)).code).toBe(0);
    expect((await command("train", "--resume", "part", "--epochs", "4")).code).toBe(0);
    const [first = [], second = [], ...others] = filesIn("logs", "part");
    expect(others).toEqual([]);
    const last = first.at(-1)!.step;
    expect(first[1]).toMatchObject({ step: 0, status: 1 });
    expect(second[1]).toMatchObject({ step: last + 1, status: 1 });
    expect(second.filter(({ scalars }) => scalars.size > 0).every(({ step }) => step > last)).toBe(
      true,
    );
    expect(values(second, "progress/epochs").at(-1)).toBe(4);
    expect(existsSync(path("part", "tensorboard"))).toBe(false);
  },
  LONG,
);

test(
  "a simulated run's times are the simulator's",
  async () => {
    const args = ["--profile", "four-v100", "--epochs", "1", "--out", "simulated"];
    const data = small.filter((word) => !["--devices", "cpu"].includes(word));
    const ended = await command("simulate", ...data, ...args, "--tensorboard");
    expect(ended.code).toBe(0);
    const [events = []] = filesIn("simulated", "tensorboard");
    const at = eventsOf(path("simulated")).findLast(({ type }) => type === "merge")!.at;
    const point = events.findLast(({ scalars }) => scalars.has("loss/train"))!;
    expect(point.wallTime - events[0]!.wallTime).toBeCloseTo(at, 5);
  },
  LONG,
);

test(
  "what replaces a run replaces its files too",
  async () => {
    const args = ["train", ...small, "--epochs", "1", "--out", "forced"];
    expect((await command(...args, "--tensorboard")).code).toBe(0);
    const [before] = readdirSync(path("forced", "tensorboard"));
    expect((await command(...args, "--tensorboard", "--force")).code).toBe(0);
    const after = readdirSync(path("forced", "tensorboard"));
    expect(after).toHaveLength(1);
    expect(after).not.toContain(before);
    expect((await command(...args, "--force")).code).toBe(0);
    expect(existsSync(path("forced", "tensorboard"))).toBe(false);
  },
  LONG,
);

test(
  "where nothing can be written any more the run goes on, with a warning",
  async () => {
    mkdirSync(path("blocked"));
    writeFileSync(path("blocked", "name"), "");
    const args = ["--epochs", "1", "--out", "name", "--tensorboard", "blocked"];
    const ended = await command("train", ...small, ...args);
    expect(ended.code).toBe(0);
    expect(ended.stderr.match(/nothing more for TensorBoard/g)).toHaveLength(1);
    expect(readFileSync(path("name", "log.txt"), "utf8")).toContain("training goes on");
  },
  LONG,
);

test("a folder that can't be one is refused before anything is read", async () => {
  const ended = await command("train", "--tensorboard", "train.txt");
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toContain("there is no training data; train.txt is --tensorboard's folder");
  const file = await command("train", ...small, "--tensorboard", "test.txt", "--dry-run");
  expect(file.code).toBe(2);
  expect(file.stderr).toMatch(/cannot write into test\.txt: .* is a file; .*\[BAD_VALUE\]\n$/);
  expect(file.stderr).not.toContain("reading");
});
