import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { run, start, temporaryFolder, until, writeEasyData } from "./command.js";

const folder = temporaryFolder();
// For longer than any test lasts, but not for ever: a test run that is killed leaves it behind.
const lasting = ["--epochs", "1000000", "--max-time", "5m"];
const endless = ["train", "train.txt", "--test", "test.txt", "--batch", "8", ...lasting];

beforeAll(() => {
  writeEasyData(folder);
});

// Part of every system but Windows.
const makeNamedPipe = "mkfifo";

const hasMerged = (name: string) => () => {
  const file = join(folder, name, "events.jsonl");
  return existsSync(file) && readFileSync(file, "utf8").includes('"merge"');
};

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends a run in good order", async (signal, code) => {
  const name = signal.toLowerCase();
  const running = start([...endless, "--out", name, "--json"], { folder });
  await until(hasMerged(name));
  running.child.kill(signal);
  // As a terminal that is closed does.
  if (signal === "SIGHUP") setTimeout(() => running.child.kill(signal), 5);
  const ended = await running.ended;
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(`${signal}: finishing`);
  expect(JSON.parse(ended.stdout)).toMatchObject({ reason: "signal" });
  const model = `${name}/model.safetensors`;
  const evaluated = await run(["eval", model, "test.txt", "--json"], { folder });
  const { metrics } = JSON.parse(ended.stdout) as { metrics: { "P@1": number } };
  expect(JSON.parse(evaluated.stdout)).toMatchObject({ metrics: { "P@1": metrics["P@1"] } });
});

test("a second signal ends it at once, whatever the devices are doing", async () => {
  // At this handicap a batch takes minutes.
  const slow = ["--devices", "cpu@0.00001", "--out", "slow"];
  const running = start([...endless, ...slow], { folder });
  await until(() => existsSync(join(folder, "slow", "events.jsonl")));
  await until(() => readFileSync(join(folder, "slow", "events.jsonl"), "utf8").includes("start"));
  running.child.kill("SIGINT");
  await until(() => running.stderr().includes("again to stop at once"));
  running.child.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
  expect(existsSync(join(folder, "slow", "model.safetensors"))).toBe(false);
});

test.skipIf(process.platform === "win32")(
  "a signal while data is read ends it at once",
  async () => {
    // Nobody ever writes into it, so the read never returns.
    execFileSync(makeNamedPipe, [join(folder, "endless.txt")]);
    const running = start(["train", "endless.txt", "--out", "reading"], { folder });
    await until(() => running.stderr().includes("reading"));
    running.child.kill("SIGTERM");
    const { signal, stderr } = await running.ended;
    expect(signal).toBe("SIGTERM");
    expect(stderr).toContain("nothing to save");
    expect(existsSync(join(folder, "reading"))).toBe(false);
  },
);

test("a reader that has seen enough is no error", async () => {
  await run(["train", "train.txt", "--epochs", "1", "--devices", "cpu", "--out", "m"], { folder });
  writeFileSync(join(folder, "many.txt"), `0:1 1:1\n`.repeat(20_000));
  const running = start(["predict", "m/model.safetensors", "many.txt", "--format", "xc-rows"], {
    folder,
  });
  await until(() => running.child.stdout?.readableFlowing === true);
  running.child.stdout?.once("data", () => running.child.stdout?.destroy());
  expect(await running.ended).toMatchObject({ code: 0, stderr: "" });
});
