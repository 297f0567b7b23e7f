import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@heterosgd/trainer";
import { beforeAll, describe, expect, test } from "vitest";
import { run, temporaryFolder, writeEasyData, type Ended } from "./command.js";

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
const json = (...names: string[]) =>
  JSON.parse(readFileSync(path(...names), "utf8")) as Record<string, unknown>;
const command = (...args: string[]) => run(args, { folder });
const small = ["train.txt", "--test", "test.txt", "--hidden", "8", "--epochs", "3", "-b", "16"];

beforeAll(() => {
  writeEasyData(folder);
});

const parameters = (name: string) => readFileSync(path(name, "model.safetensors")).subarray(-500);

describe("a simulated run", () => {
  let ended: Ended;

  beforeAll(async () => {
    ended = await command("simulate", ...small, "--devices", "gpu,gpu@0.5", "--out", "first");
  }, 60_000);

  test("shows what a real one shows, and says of every time that it is simulated", () => {
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^P@1 +0\.\d{4} +P@3/);
    expect(ended.stdout).toMatch(/device 1 \(gpu@0\.5\) +(native-|wasm)/);
    expect(ended.stdout).toMatch(/720 rows in .* simulated, /);
    expect(ended.stdout).toContain(
      "All times are simulated, by the profile four-v100 (assumptions, not measurements).",
    );
    const lines = ended.stderr.split("\n").filter((line) => line.includes("rows/s"));
    for (const line of lines) expect(line).toMatch(/rows\/s simulated .* simulated [\d.]+/);
  });

  test("leaves the folder that a real one leaves, whose start says what it is", () => {
    const [first] = readFileSync(path("first", "events.jsonl"), "utf8").split("\n");
    expect(JSON.parse(first!) as RunEvent).toMatchObject({
      type: "start",
      simulated: { profile: "four-v100", measured: false, devices: [{ kind: "gpu" }, {}] },
    });
    expect(json("first", "metrics.json")).toMatchObject({
      reason: "epochs",
      simulated: { profile: "four-v100", measured: false },
    });
  });

  test("is the same again, by its stored configuration too", async () => {
    const again = ["--devices", "gpu,gpu@0.5", "--out", "again"];
    expect((await command("simulate", ...small, ...again)).code).toBe(0);
    expect(readFileSync(path("again", "events.jsonl"), "utf8")).toBe(
      readFileSync(path("first", "events.jsonl"), "utf8"),
    );
    const config = ["--config", "first/config.json", "--out", "stored"];
    expect((await command("simulate", ...config)).code).toBe(0);
    expect(parameters("stored").equals(parameters("first"))).toBe(true);
  });
});

test("a profile of one's own, relative to the config file that names it", async () => {
  const profile = {
    name: "mine",
    description: "A single slow device.",
    measured: false,
    link: { latency: 0, bandwidth: 1e9 },
    kinds: { box: { fixed: 1, perRow: 0, perNonZero: 0 } },
    devices: [{ kind: "box" }],
  };
  writeFileSync(path("mine.json"), JSON.stringify(profile));
  const config = {
    train: "train.txt",
    profile: "mine.json",
    algorithm: "sync",
    epochs: 1,
    batch: 16,
  };
  writeFileSync(path("config.json"), JSON.stringify(config));
  const ended = await run(["simulate", "--config", path("config.json"), "--json", "--out", "m"], {
    folder: temporaryFolder(),
  });
  // 240 rows, a second for each 16, and reductions of a few kilobytes.
  const { seconds, simulated } = JSON.parse(ended.stdout) as Record<string, unknown>;
  expect(seconds).toBeCloseTo(15, 3);
  expect(simulated).toEqual({ profile: "mine", measured: false });
});

test.each([
  [
    ["--profile", "nowhere.json"],
    /cannot read the profile .*nowhere\.json: there is no such file; .*four-v100.*\[PROFILE_UNREADABLE\]/,
  ],
  [["--profile", "train.txt"], /train\.txt: it is no JSON: .*\[PROFILE_UNREADABLE\]/],
  [["--devices", "cpu"], /unknown device kind "cpu".*four-v100 has: gpu \[DEVICE_SPEC\]/],
  [
    ["--algorithm", "hogwild", "--profile", "four-v100"],
    /four-v100 has no device that --algorithm hogwild has a use for.*cpu48-k80.*\[CONFLICT\]/,
  ],
  [["--batch-min", "256"], /^error: --batch-min is 256, but must be .* \[INVALID_OPTION\]/m],
  [["--devices", "gpu:joins=1"], /no device is there at the start.*\[NO_DEVICES\]/],
])("what can't be simulated is refused: %s", async (options, message) => {
  const { code, stderr } = await command("simulate", "train.txt", "--out", "no", ...options);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toMatch(message);
});

test.each([
  ["hogwild", ["cpu"]],
  ["hogbatch", ["cpu", "gpu"]],
])("%s runs on devices that it has a use for, though none are named", async (algorithm, kinds) => {
  const rest = ["--hidden", "8", "--algorithm", algorithm, "--out", algorithm];
  const ended = await command("simulate", "train.txt", ...rest);
  expect(ended.code).toBe(0);
  const [start] = readFileSync(path(algorithm, "events.jsonl"), "utf8").split("\n");
  expect(JSON.parse(start!)).toMatchObject({
    simulated: { profile: "cpu48-k80", devices: kinds.map((kind) => ({ kind })) },
  });
});

test("the bundled data is enough to see the devices of failing go and come", async () => {
  const ended = await command("simulate", "--sample", "--profile", "failing", "--out", "failing");
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain("a device was lost, the others go on: device 2");
  expect(ended.stderr).toContain("a device has joined: device 3");
  expect(ended.stdout).toMatch(/device 2 .* lost$/m);
  const { devices } = json("failing", "metrics.json") as {
    devices: readonly { rows: number }[];
  };
  for (const { rows } of devices) expect(rows).toBeGreaterThan(0);
}, 60_000);

test("a real run takes no profile", async () => {
  expect((await command("train", "train.txt", "--profile", "four-v100")).stderr).toMatch(
    /unknown option '--profile'/,
  );
  writeFileSync(path("p.json"), JSON.stringify({ train: "train.txt", profile: "four-v100" }));
  const { code, stderr } = await command("train", "--config", "p.json", "--out", "p");
  expect(code).toBe(2);
  expect(stderr).toMatch(/is set, but this is a real run; heterosgd simulate .*\[CONFLICT\]/);
});
