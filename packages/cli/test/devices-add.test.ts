import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { run, start, temporaryFolder, until, writeEasyData, type Running } from "./command.js";
import { eventsOf, faultsIn } from "./run-events.js";

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
const command = (...args: string[]) => run(args, { folder });
const training = ["train.txt", "--hidden", "8", "-b", "8", "--devices", "cpu"];
// For longer than any test lasts, but not for ever: a test run that is killed leaves it behind.
const endless = ["train", ...training, "--epochs", "1000000", "--max-time", "5m"];
const LONG = 120_000;

const hasEvent = (name: string, type: string) => {
  const file = path(name, "events.jsonl");
  return existsSync(file) && readFileSync(file, "utf8").includes(`"${type}"`);
};

async function begin(name: string, ...options: readonly string[]): Promise<Running> {
  const running = start([...endless, "--out", name, ...options], { folder });
  await until(() => hasEvent(name, "done"));
  return running;
}

beforeAll(() => {
  writeEasyData(folder);
});

// Elsewhere a run sees by itself that its list of devices has changed.
const hasSignals = process.platform !== "win32";

test(
  "a run that is under way takes more devices, and keeps them when it is resumed",
  async () => {
    const running = await begin("more");
    const added = await command("devices", "add", "more", "cpu@0.5", "cpu", "--json");
    expect(added.code).toBe(0);
    expect(JSON.parse(added.stdout)).toMatchObject({
      joined: [
        { device: 1, spec: "cpu@0.5" },
        { device: 2, spec: "cpu" },
      ],
      failed: [],
    });
    expect(JSON.parse(readFileSync(path("more", "devices.json"), "utf8"))).toEqual({
      devices: "cpu,cpu@0.5,cpu",
    });
    running.child.kill("SIGTERM");
    const stopped = await running.ended;
    expect(stopped.code).toBe(143);
    expect(stopped.stderr).toContain("a device has joined: device 1 (cpu@0.5)");
    const { rows } = JSON.parse(readFileSync(path("more", "metrics.json"), "utf8")) as {
      rows: number;
    };
    const epochs = Math.floor(rows / 240) + 2;
    expect((await command("train", "--resume", "more", "--epochs", String(epochs))).code).toBe(0);
    const config = JSON.parse(readFileSync(path("more", "config.json"), "utf8")) as object;
    expect(config).toMatchObject({ devices: "cpu,cpu@0.5,cpu" });
    expect(existsSync(path("more", "devices.json"))).toBe(false);
    expect(faultsIn(eventsOf(path("more")), 240, epochs)).toEqual([]);
  },
  LONG,
);

test.runIf(hasSignals)(
  "SIGHUP reads a list that has changed, and ends the run where none has",
  async () => {
    const running = await begin("hup");
    writeFileSync(path("hup", "devices.json"), '{"devices": "cpu,cpu@0.7"}');
    running.child.kill("SIGHUP");
    await until(() => running.stderr().includes("a device has joined: device 1 (cpu@0.7)"));
    writeFileSync(path("hup", "devices.json"), "{}");
    running.child.kill("SIGHUP");
    await until(() => running.stderr().includes('must be like {"devices": "cpu,cpu@0.5"}'));
    running.child.kill("SIGHUP");
    const ended = await running.ended;
    expect(ended.code).toBe(129);
    expect(ended.stderr).toContain("SIGHUP: finishing");
  },
  LONG,
);

test(
  "a device that can't be had is said, and the run goes on without",
  async () => {
    // Kernels in WebAssembly run on one thread.
    const running = await begin("without", "--kernels", "wasm");
    const added = await command("devices", "add", "without", "cpu:4");
    expect(added.code).toBe(4);
    expect(added.stderr).toMatch(
      /1 of 1 device could not be added, the run goes on without: cpu:4: .*\[DEVICE_NOT_ADDED\]\n$/,
    );
    await until(() => readFileSync(path("without", "devices.json"), "utf8").includes('"cpu"'));
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(143);
  },
  LONG,
);

describe("no device can be added to", () => {
  test("what is no run", async () => {
    mkdirSync(path("empty"));
    const refused = await command("devices", "add", "empty", "cpu");
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toMatch(/empty is no folder of a run.*\[NOT_A_RUN\]\n$/);
  });

  test(
    "a run that has ended",
    async () => {
      expect((await command("train", ...training, "--epochs", "1", "--out", "over")).code).toBe(0);
      const refused = await command("devices", "add", "over", "cpu");
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(
        /not under way; .* train --resume over .*\[RUN_NOT_ALIVE\]\n$/,
      );
    },
    LONG,
  );

  test(
    "a simulated run",
    async () => {
      const args = ["simulate", "train.txt", "--epochs", "100000", "--hidden", "8", "-b", "8"];
      const running = start([...args, "--devices", "gpu", "--out", "made-up"], { folder });
      await until(() => hasEvent("made-up", "start"));
      const refused = await command("devices", "add", "made-up", "cpu");
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/is simulated: .*\[CONFLICT\]\n$/);
      running.child.kill("SIGTERM");
      expect((await running.ended).code).toBe(143);
    },
    LONG,
  );

  test.each([
    [["tpu"], /unknown device kind "tpu".*\[DEVICE_SPEC\]\n$/],
    [[], /missing required argument 'specs' \[USAGE\]\n$/],
    [["cpu", "--hidden", "8"], /unknown option '--hidden'.*\[USAGE\]\n$/],
  ])("anything by words that say nothing: %s", async (words, message) => {
    const refused = await command("devices", "add", "over", ...words);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(message);
  });
});
