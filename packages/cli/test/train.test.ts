import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@heterosgd/trainer";
import { beforeAll, describe, expect, test } from "vitest";
import { run, start, temporaryFolder, until, writeEasyData, type Ended } from "./command.js";

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
const json = (...names: string[]) =>
  JSON.parse(readFileSync(path(...names), "utf8")) as Record<string, unknown>;
const command = (...args: string[]) => run(args, { folder });

const training = ["--batch", "16", "--learning-rate", "0.05", "--hidden", "8", "--epochs", "4"];

interface Metrics {
  readonly metrics: Record<string, number>;
  readonly devices: readonly { readonly rows: number; readonly weight: number }[];
}

beforeAll(() => {
  writeEasyData(folder);
});

describe("a run over two unequal devices", () => {
  let ended: Ended;

  beforeAll(async () => {
    const devices = ["--devices", "cpu,cpu@0.5", "--out", "first"];
    ended = await command("train", "train.txt", "--test", "test.txt", ...devices, ...training);
  }, 60_000);

  test("ends well and learns", () => {
    expect(ended.stderr).not.toContain("error");
    expect(ended.code).toBe(0);
    expect((json("first", "metrics.json") as unknown as Metrics).metrics["P@1"]).toBeGreaterThan(
      0.6,
    );
  });

  test("shows metrics, devices, and where everything lies on stdout", () => {
    expect(ended.stdout).toMatch(/^P@1 +0\.\d{4} +P@3/);
    expect(ended.stdout).toContain(
      "on the test set (40 rows, of which 4 without labels count as 0)",
    );
    expect(ended.stdout).toMatch(/device 0 \(cpu\) +(native-|wasm)/);
    expect(ended.stdout).toMatch(/device 1 \(cpu@0\.5\) +(native-|wasm)/);
    expect(ended.stdout).toMatch(/model +first\/model\.safetensors/);
    expect(ended.stdout).toMatch(/next +node .* predict first\/model\.safetensors test\.txt -k 5/);
  });

  test("tells how it is getting on in plain lines on stderr, as that is no terminal", () => {
    expect(ended.stderr).toContain("240 rows");
    expect(ended.stderr).not.toContain("\u001b");
  });

  test("leaves a complete run folder", () => {
    const events = readFileSync(path("first", "events.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as RunEvent);
    expect(events[0]?.type).toBe("start");
    expect(events.at(-1)?.type).toBe("end");
    expect(events.filter(({ type }) => type === "evaluation")).toHaveLength(4);
    const { devices } = json("first", "metrics.json") as unknown as Metrics;
    expect(devices.reduce((sum, { rows }) => sum + rows, 0)).toBe(4 * 240);
    expect(readFileSync(path("first", "log.txt"), "utf8")).toContain("P@1");
    expect(existsSync(path("first", "model.safetensors"))).toBe(true);
  });

  test("evaluating the model gives the metrics of the run", async () => {
    const evaluated = await command("eval", "first/model.safetensors", "test.txt", "--json");
    expect(evaluated.code).toBe(0);
    const { metrics } = JSON.parse(evaluated.stdout) as Metrics;
    const before = (json("first", "metrics.json") as unknown as Metrics).metrics;
    expect(Object.keys(metrics)).toEqual(Object.keys(before));
    for (const [name, value] of Object.entries(metrics)) {
      expect(value).toBeCloseTo(before[name] ?? Number.NaN, 12);
    }
  });

  test("is not written over, unless that is wanted", async () => {
    const again = ["train", "train.txt", "--out", "first", "--epochs", "1", "--devices", "cpu"];
    const refused = await command(...again);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/error: first already holds files .*\[RUN_EXISTS\]\n$/);
    expect(refused.stderr).not.toContain("reading");
    const forced = await command(...again, "--force", "--json");
    expect(forced.code).toBe(0);
    expect(JSON.parse(forced.stdout)).toMatchObject({ evaluatedOn: null, metrics: null });
  });
});

test("one device and one seed give the same model again, from the stored config too", async () => {
  const args = ["train.txt", "--test", "test.txt", "--devices", "cpu", ...training];
  await command("train", ...args, "--seed", "7", "--out", "a");
  await command("train", ...args, "--seed", "8", "--out", "b");
  const elsewhere = temporaryFolder();
  const config = path("a", "config.json");
  const repeated = await run(["train", "--config", config, "--out", "a"], { folder: elsewhere });
  expect(repeated.code).toBe(0);
  const parameters = (file: string) => readFileSync(join(file, "model.safetensors")).subarray(-500);
  expect(parameters(join(elsewhere, "a")).equals(parameters(path("a")))).toBe(true);
  expect(parameters(path("b")).equals(parameters(path("a")))).toBe(false);
});

test("with --json stdout is one document, the one in the run folder", async () => {
  const args = ["--validation", "0.25", "--devices", "cpu", "--json", "--quiet", "--out", "j"];
  const ended = await command("train", "train.txt", ...training, ...args);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ended.stdout)).toEqual(json("j", "metrics.json"));
  expect(JSON.parse(ended.stdout)).toMatchObject({
    reason: "epochs",
    evaluatedOn: "validation",
    rows: 4 * 180,
    metrics: { rows: 60 },
  });
});

test("a dry run shows plan and memory, and writes nothing", async () => {
  const args = ["train", "train.txt", "--test", "test.txt", "--out", "dry", "--dry-run"];
  const words = await command(...args);
  expect(words.code).toBe(0);
  expect(words.stdout).toMatch(/network +16 features → 128 relu → 3 labels/);
  expect(words.stdout).toMatch(/memory +\d[\d.]* MiB/);
  const document = await command(...args, "--json");
  expect(JSON.parse(document.stdout)).toMatchObject({
    data: { trainRows: 240, evaluationRows: 40, evaluatedOn: "test" },
    parameters: 16 * 128 + 128 + 128 * 3 + 3,
  });
  expect(existsSync(path("dry"))).toBe(false);
});

test("a dry run refuses the folders that the run would refuse", async () => {
  writeFileSync(path("some-file"), "");
  const bad = [
    ["some-file", "RUN_FOLDER", 1],
    [".", "RUN_EXISTS", 2],
  ] as const;
  for (const [out, error, code] of bad) {
    const ended = await command("train", "train.txt", "--dry-run", "--out", out);
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toContain(`[${error}]`);
  }
});

test("a network that no machine holds is refused with both numbers", async () => {
  const huge = ["--hidden", "60000,60000", "--devices", "64*cpu", "--dry-run"];
  const ended = await command("train", "train.txt", ...huge);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/needs .* TiB .* are free; .*\[NOT_ENOUGH_MEMORY\]/);
});

test("a target ends the run early", async () => {
  const target = ["--target", "P@1>=0.5", "--epochs", "200", "--json", "--out", "t"];
  const ended = await command("train", "train.txt", "--test", "test.txt", ...training, ...target);
  expect(JSON.parse(ended.stdout)).toMatchObject({ reason: "target" });
});

test("a number of steps ends the run early", async () => {
  const steps = ["--max-steps", "5", "--json", "--out", "s", "--devices", "cpu"];
  const ended = await command("train", "train.txt", ...training, ...steps);
  const { reason, devices } = JSON.parse(ended.stdout) as {
    reason: string;
    devices: readonly { updates: number }[];
  };
  expect(reason).toBe("steps");
  expect(devices[0]?.updates).toBe(5);
});

test("rows wider than the training data are refused, or cut", async () => {
  writeFileSync(path("wide.txt"), "2 17 4\n0 0:1\n3 16:1\n");
  const args = ["train", "train.txt", "--test", "wide.txt", "--out", "w", ...training];
  const refused = await command(...args);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/error: wide\.txt:1:1: .*17.*16.*--wider drop.*\[TOO_WIDE\]/);
  const dropped = await command(...args, "--wider", "drop", "--json");
  expect(dropped.code).toBe(0);
  expect(dropped.stderr).toContain(
    "note: wide.txt: 1 value of features that the model does not have was left out.",
  );
});

test("a run that fails leaves the run that it was to replace as it was", async () => {
  const args = [...training, "--devices", "cpu", "--out", "kept"];
  await command("train", "train.txt", ...args);
  const names = ["config.json", "events.jsonl", "log.txt", "metrics.json", "model.safetensors"];
  const contents = () => names.map((name) => readFileSync(path("kept", name)));
  const before = contents();
  const rate = ["--optimizer", "sgd", "--schedule", "step", "--schedule-factor", "1e38"];
  const worse = [...rate, "--learning-rate", "1", "--force"];
  const ended = await command("train", "train.txt", ...args, ...worse);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain("was saved: kept/replacement/model.safetensors\n");
  expect(ended.stderr).toContain("the earlier run in kept was not replaced; ");
  expect(contents()).toEqual(before);
  expect((await command("train", "train.txt", ...args, "--seed", "2", "--force")).code).toBe(0);
  expect(readdirSync(path("kept")).toSorted()).toEqual(["checkpoints", ...names]);
  expect(json("kept", "config.json")).toMatchObject({ seed: 2, optimizer: "adam" });
});

test("force replaces neither what the run reads nor a folder that is no run's", async () => {
  const train = readFileSync(path("train.txt"));
  mkdirSync(path("data"));
  writeFileSync(path("data", "log.txt"), train);
  const args = ["train", "data/log.txt", "--out", "data", "--force", "--epochs", "1"];
  const noRun = await command(...args);
  expect(noRun.code).toBe(2);
  expect(noRun.stderr).toMatch(/no run lies there .*\[RUN_EXISTS\]\n$/);
  writeFileSync(path("data", "events.jsonl"), "");
  const input = await command(...args);
  expect(input.code).toBe(2);
  expect(input.stderr).toMatch(/data\/log\.txt, which it reads; .*\[RUN_EXISTS\]\n$/);
  expect(readFileSync(path("data", "log.txt")).equals(train)).toBe(true);
});

test("a model that cannot be written is said, with what was saved beside it", async () => {
  const args = [...training, "--devices", "cpu", "--out", "torn", "--max-time", "5m"];
  const running = start(["train", "train.txt", ...args, "--epochs", "100000"], {
    folder,
    environment: { TMPDIR: folder },
  });
  await until(() => existsSync(path("torn", "events.jsonl")));
  // A model cannot be renamed to a folder.
  mkdirSync(path("torn", "model.safetensors"));
  await until(() => readFileSync(path("torn", "events.jsonl"), "utf8").includes("merge"));
  running.child.kill("SIGTERM");
  const ended = await running.ended;
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(
    /in torn: saved metrics\.json, events\.jsonl and log\.txt; not saved model\.safetensors: .*\[RUN_NOT_SAVED\]\n$/,
  );
  expect(json("torn", "metrics.json")).toMatchObject({ reason: "signal" });
  const elsewhere = /saved elsewhere: (.*)\n/.exec(ended.stderr)?.[1] ?? "";
  expect((await command("eval", elsewhere, "test.txt")).code).toBe(0);
});

test("a run that diverges says so, and saves the model of the last merge before", async () => {
  // The first epoch goes well, the second at a rate beyond all numbers.
  const rate = ["--optimizer", "sgd", "--schedule", "step", "--schedule-factor", "1e38"];
  const args = [...training, ...rate, "--learning-rate", "1", "--devices", "cpu", "--out", "bad"];
  const ended = await command("train", "train.txt", ...args);
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(
    /\nthe model as of the last merge was saved: bad\/model\.safetensors\n/,
  );
  expect(ended.stderr).toMatch(/error: .*diverged.*\[DIVERGED\]\n$/);
  expect(readFileSync(path("bad", "log.txt"), "utf8")).toContain("[DIVERGED]");
  const evaluated = await command("eval", "bad/model.safetensors", "test.txt", "--json");
  expect((JSON.parse(evaluated.stdout) as Metrics).metrics["P@1"]).toBeGreaterThan(0);
});

test("libsvm data brings its own label names, also where the model is used", async () => {
  const names = ["-5", "10", "7"];
  const rows = Array.from({ length: 120 }, (_, i) => `${names[i % 3]} ${(i % 3) + 1}:1`);
  writeFileSync(path("svm.txt"), `${rows.join("\n")}\n`);
  const args = ["--devices", "cpu", "--epochs", "10", "--learning-rate", "0.05", "--out", "svm"];
  const trained = await command("train", "svm.txt", "--test", "svm.txt", ...args, "--json");
  expect(trained.code).toBe(0);
  const before = (JSON.parse(trained.stdout) as Metrics).metrics;
  expect(before["P@1"]).toBe(1);
  const evaluated = await command("eval", "svm/model.safetensors", "svm.txt", "--json");
  expect((JSON.parse(evaluated.stdout) as Metrics).metrics).toEqual(before);
  const input = "1:1\n3:1\n7 2:1\n";
  const predicted = await run(["predict", "svm/model.safetensors", "-k", "1"], { folder, input });
  const labels = predicted.stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { labels: { label: string }[] }).labels[0]?.label);
  expect(labels).toEqual(["-5", "7", "10"]);
});

describe("algorithms by name", () => {
  test.each([
    ["sync", ["--batch", "16", "--devices", "cpu,cpu@0.7"]],
    ["hogbatch", ["--accelerator-batch", "32", "--devices", "cpu,cpu:role=accelerator"]],
  ])("%s runs, says whose the updates were, and is in the run's folder", async (name, options) => {
    const args = ["--algorithm", name, ...options, "--hidden", "8", "--epochs", "2", "--out", name];
    const ended = await command("train", "train.txt", "--test", "test.txt", ...args);
    expect(ended.stderr).not.toContain("error");
    expect(ended.code).toBe(0);
    expect(json(name, "config.json")).toMatchObject({ algorithm: name, kappa: null });
    const { devices } = json(name, "metrics.json") as unknown as Metrics;
    expect(devices.reduce((sum, { rows }) => sum + rows, 0)).toBe(2 * 240);
    expect(ended.stdout.includes("of all updates")).toBe(name === "hogbatch");
  });

  test("an option of another one is refused in one line", async () => {
    const { code, stderr } = await command(
      "train",
      "train.txt",
      "--algorithm",
      "local",
      "-b",
      "8",
      "--alpha",
      "3",
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: --alpha is an option of adaptive-hogbatch, but the algorithm is local.*--local-steps.*\[CONFLICT\]\n$/,
    );
  });

  test("patience ends a run that gets no better", async () => {
    const args = [
      "--patience",
      "2",
      "--epochs",
      "500",
      "--json",
      "--out",
      "patient",
      "--hidden",
      "8",
    ];
    const ended = await command("train", "train.txt", "--test", "test.txt", "-b", "16", ...args);
    expect(JSON.parse(ended.stdout)).toMatchObject({ reason: "patience" });
  }, 60_000);
});
