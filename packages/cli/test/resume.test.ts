import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { run, start, temporaryFolder, until, writeEasyData, type Running } from "./command.js";
import { eventsOf, faultsIn } from "./run-events.js";

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
const json = (...names: string[]) =>
  JSON.parse(readFileSync(path(...names), "utf8")) as Record<string, unknown>;
const command = (...args: string[]) => run(args, { folder });
const text = (...names: string[]) => readFileSync(path(...names), "utf8");

const ROWS = 240;
const small = ["train.txt", "--test", "test.txt", "--hidden", "8", "-b", "8"];
// For longer than any test lasts, but not for ever: a test run that is killed leaves it behind.
const lasting = ["--epochs", "1000000", "--max-time", "5m"];
const endless = ["train", ...small, ...lasting, "--checkpoint-every", "merge"];
const LONG = 120_000;

beforeAll(() => {
  writeEasyData(folder);
});

/** What was saved, however far it is: two epochs more. */
function more(name: string): readonly string[] {
  const { rows } = json(name, "metrics.json") as { rows: number };
  return ["--epochs", String(Math.floor(rows / ROWS) + 2)];
}

function hasEvent(name: string, type: string): boolean {
  const file = path(name, "events.jsonl");
  return existsSync(file) && readFileSync(file, "utf8").includes(`"${type}"`);
}

describe("a signal while the run is", () => {
  const phases: readonly (readonly [string, (running: Running, name: string) => boolean])[] = [
    ["opening devices", (running) => running.stderr().includes("\ncheckpoints ")],
    ["training", (_, name) => hasEvent(name, "done")],
    ["merging", (running) => running.stderr().includes("merge 3:")],
    ["evaluating", (_, name) => hasEvent(name, "evaluation")],
    ["writing a checkpoint", (_, name) => existsSync(path(name, "checkpoints"))],
  ];
  test.each(phases)(
    "%s has it saved, and it goes on until its end",
    async (phase, isThere) => {
      const name = phase.replaceAll(" ", "-");
      const running = start([...endless, "--out", name, "--devices", "cpu,cpu@0.5", "-v"], {
        folder,
      });
      await until(() => isThere(running, name));
      running.child.kill("SIGINT");
      const stopped = await running.ended;
      expect(stopped.code).toBe(130);
      expect(stopped.stdout).toMatch(new RegExp(`next +node .* train --resume ${name}\n$`));
      expect(json(name, "metrics.json")).toMatchObject({ reason: "signal" });
      expect(existsSync(path(name, "running.json"))).toBe(false);
      const epochs = more(name);
      const ended = await command("train", "--resume", name, ...epochs, "--json");
      expect(ended.code).toBe(0);
      expect(JSON.parse(ended.stdout)).toMatchObject({
        reason: "epochs",
        rows: ROWS * Number(epochs[1]),
      });
      expect(faultsIn(eventsOf(path(name)), ROWS, Number(epochs[1]))).toEqual([]);
      expect(json(name, "config.json")).toMatchObject({ epochs: Number(epochs[1]), resume: null });
    },
    LONG,
  );
});

describe("a run that is complete", () => {
  const args = ["train", ...small, "--devices", "cpu", "--seed", "3", "--schedule", "constant"];

  beforeAll(async () => {
    await command(...args, "--epochs", "2", "--out", "two");
  }, LONG);

  test("says so, and is left as it is", async () => {
    const before = text("two", "events.jsonl");
    const again = await command("train", "--resume", "two", "--json");
    expect(again.code).toBe(0);
    expect(again.stderr).toContain("two has done all that it was to do");
    expect(JSON.parse(again.stdout)).toEqual(json("two", "metrics.json"));
    expect(text("two", "events.jsonl")).toBe(before);
  });

  test(
    "goes on with more epochs, on one device as if it had had them from the start",
    async () => {
      expect((await command(...args, "--epochs", "4", "--out", "four")).code).toBe(0);
      expect((await command("train", "--resume", "two", "--epochs", "4")).code).toBe(0);
      const parameters = (name: string) =>
        readFileSync(path(name, "model.safetensors")).subarray(-500);
      expect(parameters("two").equals(parameters("four"))).toBe(true);
      expect(faultsIn(eventsOf(path("two")), ROWS, 4)).toEqual([]);
      const resumed = eventsOf(path("two")).filter(({ type }) => type === "resume");
      expect(resumed).toMatchObject([{ exact: true, rows: 2 * ROWS }]);
      expect(text("two", "log.txt")).toContain("the run goes on from step-");
    },
    LONG,
  );

  test(
    "goes on on other devices, and with another learning rate",
    async () => {
      const other = ["--devices", "cpu,cpu@0.5", "--learning-rate", "0.001"];
      const ended = await command("train", "--resume", "two", "--epochs", "6", ...other);
      expect(ended.code).toBe(0);
      expect(ended.stderr).toContain("on other devices");
      expect(faultsIn(eventsOf(path("two")), ROWS, 6)).toEqual([]);
      expect(json("two", "config.json")).toMatchObject({
        devices: "cpu,cpu@0.5",
        learningRate: 0.001,
      });
    },
    LONG,
  );

  test("is no other one: what it may not be told anew is an error that names it", async () => {
    const refused = await command("train", "--resume", "two", "--hidden", "16");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /--hidden is \[16\], but .* has \[8\]; .*--epochs.*\[CONFLICT\]\n$/,
    );
    const seed = await command("train", "--resume", "two", "--seed", "4");
    expect(seed.stderr).toMatch(/--seed is 4, but .* has 3/);
    const both = await command("train", "--resume", "two", "--force");
    expect(both.stderr).toMatch(/--force replaces it.*\[CONFLICT\]\n$/);
    const elsewhere = await command("train", "--resume", "two", "--out", "three");
    expect(elsewhere.stderr).toMatch(/--out is three.*\[CONFLICT\]\n$/);
  });

  test("refuses other data, saying so, and changes nothing", async () => {
    const rows = text("train.txt").replace("0:1", "0:2");
    writeFileSync(path("other.txt"), rows);
    const before = text("two", "events.jsonl");
    const refused = await command("train", "other.txt", "--resume", "two", "--epochs", "9");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/what differs: the training data.*\[CHECKPOINT_MISMATCH\]\n$/);
    expect(text("two", "events.jsonl")).toBe(before);
    expect(existsSync(path("two", "metrics.json"))).toBe(true);
  });

  test("is not for the simulator", async () => {
    const refused = await command("simulate", "--resume", "two", "--devices", "gpu");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/is a real one; heterosgd train --resume.*\[CONFLICT\]\n$/);
  });

  test("has checkpoints that eval, predict and inspect take as they take models", async () => {
    const [name] = readdirSync(path("two", "checkpoints")).slice(-1);
    const checkpoint = `two/checkpoints/${name}`;
    const inspected = await command("inspect", checkpoint, "--json");
    expect(JSON.parse(inspected.stdout)).toMatchObject({
      kind: "checkpoint",
      algorithm: "adaptive-sgd",
    });
    expect((await command("inspect", checkpoint)).stdout).toMatch(/models +global/);
    expect((await command("eval", checkpoint, "test.txt")).stdout).toMatch(/^P@1/);
    const predicted = await command("predict", checkpoint, "test.txt", "-k", "1");
    expect(predicted.stdout.split("\n")).toHaveLength(41);
    const listed = JSON.parse((await command("inspect", "two", "--json")).stdout) as {
      checkpoints: { path: string }[];
    };
    expect(listed.checkpoints.map((each) => each.path)).toContain(
      join("two", "checkpoints", name!),
    );
  });

  test(
    "goes on from the checkpoint before, where the newest is damaged",
    async () => {
      const names = readdirSync(path("two", "checkpoints"));
      const step = (name: string) => Number(name.slice("step-".length));
      const [newest] = names.toSorted((a, b) => step(b) - step(a));
      truncateSync(path("two", "checkpoints", newest!, "model.safetensors"), 100);
      const damaged = await command("eval", `two/checkpoints/${newest}`, "test.txt");
      expect(damaged.code).toBe(3);
      expect(damaged.stderr).toMatch(/\[CHECKPOINT_DAMAGED\]\n$/);
      rmSync(path("two", "metrics.json"));
      const evaluated = await command("eval", "two", "test.txt");
      expect(evaluated.stderr).toContain(`checkpoints/${newest} can't be used: `);
      const ended = await command("train", "--resume", "two", "--epochs", "7");
      expect(ended.stderr).toMatch(/can't be used: .*; the one before is taken\n/);
      expect(ended.code).toBe(0);
      expect(faultsIn(eventsOf(path("two")), ROWS, 7)).toEqual([]);
      expect(text("two", "events.discarded.jsonl")).toContain('"done"');
    },
    LONG,
  );
});

test(
  "a run without checkpoints is started anew",
  async () => {
    const args = ["train", ...small, "--devices", "cpu", "--epochs", "2"];
    expect((await command(...args, "--resume", "new")).code).toBe(0);
    rmSync(path("new", "checkpoints"), { recursive: true });
    const again = await command("train", "--resume", "new");
    expect(again.code).toBe(0);
    expect(faultsIn(eventsOf(path("new")), ROWS, 2)).toEqual([]);
    const none = await command(...args, "--out", "none", "--checkpoint-every", "never");
    expect(none.code).toBe(0);
    expect(existsSync(path("none", "checkpoints"))).toBe(false);
  },
  LONG,
);

test(
  "a run that was killed while its folder was made is started anew",
  async () => {
    mkdirSync(path("half"));
    for (const name of ["events.jsonl", "log.txt"]) writeFileSync(path("half", name), "");
    const args = ["train", ...small, "--devices", "cpu", "--epochs", "1"];
    expect((await command(...args, "--resume", "half")).code).toBe(0);
    expect(faultsIn(eventsOf(path("half")), ROWS, 1)).toEqual([]);
  },
  LONG,
);

test(
  "a simulated run that is told to end saves, and goes on",
  async () => {
    const args = ["simulate", ...small, ...lasting, "--checkpoint-every", "merge"];
    const running = start([...args, "--out", "told"], { folder });
    await until(() => hasEvent("told", "merge"));
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(143);
    expect(json("told", "metrics.json")).toHaveProperty("rows");
    const again = await command("simulate", "--resume", "told", ...more("told"));
    expect(again.code).toBe(0);
    const { rows } = json("told", "metrics.json") as { rows: number };
    expect(faultsIn(eventsOf(path("told")), ROWS, rows / ROWS)).toEqual([]);
  },
  LONG,
);

test(
  "a run whose checkpoints can't be written goes on, and says at its end what is not saved",
  async () => {
    const running = start([...endless, "--out", "unsaved", "--devices", "cpu"], { folder });
    await until(() => hasEvent("unsaved", "saved"));
    const checkpoints = path("unsaved", "checkpoints");
    let moved = 0;
    // The run may make the folder anew before there is a file.
    await until(() => {
      renameSync(checkpoints, path(`elsewhere-${moved++}`));
      try {
        writeFileSync(checkpoints, "", { flag: "wx" });
        return true;
      } catch {
        return false;
      }
    });
    await until(() => hasEvent("unsaved", "not-saved"));
    running.child.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/no checkpoint could be written .*; training goes on\n/);
    expect(ended.stderr).toMatch(
      /saved model\.safetensors, metrics\.json.*; not saved the last checkpoint: .*\[RUN_NOT_SAVED\]\n$/s,
    );
    expect((await command("eval", "unsaved", "test.txt")).code).toBe(0);
  },
  LONG,
);

test("fewer devices than a run is to have are refused before it begins", async () => {
  const args = ["train", ...small, "--devices", "cpu,cpu", "--min-devices", "3", "--out", "few"];
  const refused = await command(...args);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/--min-devices.*\[[A-Z_]+\]\n$/);
  expect(existsSync(path("few"))).toBe(false);
});

test(
  "a run that is under way is neither resumed nor replaced",
  async () => {
    const running = start([...endless, "--out", "busy", "--devices", "cpu"], { folder });
    await until(() => hasEvent("busy", "merge"));
    for (const args of [
      ["--resume", "busy"],
      ["train.txt", "--out", "busy", "--force"],
    ]) {
      const refused = await command("train", ...args);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/worked in by process \d+ .*\[RUN_ACTIVE\]\n$/);
    }
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(143);
  },
  LONG,
);

test(
  "a simulated run goes on exactly as without its end",
  async () => {
    const args = ["simulate", ...small, "--devices", "gpu,gpu@0.6", "--schedule", "constant"];
    expect((await command(...args, "--epochs", "4", "--out", "sim4")).code).toBe(0);
    expect((await command(...args, "--epochs", "2", "--out", "sim2")).code).toBe(0);
    expect((await command("simulate", "--resume", "sim2", "--epochs", "4")).code).toBe(0);
    expect(faultsIn(eventsOf(path("sim2")), ROWS, 4)).toEqual([]);
    expect(eventsOf(path("sim2")).find(({ type }) => type === "resume")).toMatchObject({
      exact: true,
    });
    const refused = await command("train", "--resume", "sim2", "--devices", "cpu");
    expect(refused.stderr).toMatch(/is a simulated one; heterosgd simulate --resume/);
  },
  LONG,
);
