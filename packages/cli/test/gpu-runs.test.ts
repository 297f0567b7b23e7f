/** Runs of the command on GPUs: a stand-in plays CUDA's driver, and fails when it is told to. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@heterosgd/trainer";
import { beforeAll, describe, expect, test } from "vitest";
import { cudaStandIn, skipped } from "../../../test-support/gpu-drivers.js";
import { run, start, temporaryFolder, until, writeEasyData } from "./command.js";
import { eventsOf } from "./run-events.js";

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
const ROWS = 240;
const data = ["train.txt", "--test", "test.txt"];
const LONG = 120_000;

/** With settings of the stand-in. */
const environmentOf = (settings: Readonly<Record<string, string>> = {}) => ({
  HETEROSGD_CUDA_LIBRARY: cudaStandIn?.library ?? "",
  ...Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`CUDA_STAND_IN_${name}`, value]),
  ),
});
const command = (args: readonly string[], settings?: Readonly<Record<string, string>>) =>
  run(args, { folder, environment: environmentOf(settings) });

type Event<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;
const events = <Type extends RunEvent["type"]>(name: string, type: Type): readonly Event<Type>[] =>
  eventsOf(path(name)).filter((event): event is Event<Type> => event.type === type);

/** Rows that are in the model, by its merges. */
const mergedRows = (name: string) => events(name, "merge").reduce((sum, { rows }) => sum + rows, 0);

beforeAll(() => {
  writeEasyData(folder);
});

describe.skipIf(skipped.cuda !== "")(`a GPU in a run${skipped.cuda}`, { timeout: LONG }, () => {
  /** A network that takes some memory: half a megabyte of parameters. */
  const wide = ["train", ...data, "--hidden", "4000", "--optimizer", "sgd", "-b", "128"];
  const onBoth = ["--devices", "cpu,cuda", "--mega-batch", "240", "--epochs", "2"];
  /** Room for a model, but not for what 128 rows take beside it. */
  const scarce = { MEMORY: "4500000" };

  test("--dry-run tells what each takes of its own memory", async () => {
    const all = ["--devices", "cuda,cpu,cuda:1", "--epochs", "1", "--dry-run"];
    const planned = await command([...wide, ...all], { DEVICES: "2", MEMORY: String(2 ** 28) });
    expect(planned.code, planned.stderr).toBe(0);
    for (const name of ["cuda", "cuda:1"]) {
      const [, bytes, unit] = new RegExp(
        String.raw`^memory of ${name} +([\d.]+) (.iB) of the 230 MiB that a run may have there$`,
        "mu",
      ).exec(planned.stdout)!;
      expect(unit).toBe("MiB");
      // The replica and the evaluated model at least.
      expect(Number(bytes)).toBeGreaterThan((2 * 80_003 * 4) / 2 ** 20);
      expect(Number(bytes)).toBeLessThan(230);
    }
    expect(planned.stderr).not.toContain("batches of at most");
    const document = await command([...wide, ...all, "--json"], { DEVICES: "2" });
    const { memory } = JSON.parse(document.stdout) as {
      memory: { devices: readonly { own: { bytes: number; room: number } | null }[] };
    };
    expect(memory.devices.map(({ own }) => own !== null)).toEqual([true, false, true]);
  });

  test("that lacks memory gets batches of at most so many rows, and the run says so and does so", async () => {
    const lowered =
      /^cuda gets batches of at most (\d+) rows, not 128: its memory has [\d.]+ MiB for the run$/mu;
    const planned = await command([...wide, ...onBoth, "--dry-run"], scarce);
    expect(planned.code, planned.stderr).toBe(0);
    const most = Number(lowered.exec(planned.stderr)![1]);
    expect(most).toBeGreaterThanOrEqual(1);
    expect(most).toBeLessThan(128);
    const trained = await command([...wide, ...onBoth, "--out", "scarce"], scarce);
    expect(trained.code, trained.stderr).toBe(0);
    expect(lowered.exec(trained.stderr)![1]).toBe(String(most));
    const batches = events("scarce", "done")
      .filter(({ device }) => device === 1)
      .map(({ rows }) => rows.reduce((sum, { count }) => sum + count, 0));
    expect(batches.length).toBeGreaterThan(0);
    expect(Math.max(...batches)).toBeLessThanOrEqual(most);
  });

  test("is refused smaller batches by --require, with both numbers, and nothing is left behind", async () => {
    const refused = await command([...wide, ...onBoth, "--require", "--out", "refused"], scarce);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(
      /cuda \(Stand-in 0\) has [\d.]+ MiB for a run.*, but batches of 128 rows need [\d.]+ MiB: take batches of at most \d+ rows.* \[DEVICE_MEMORY\]\n$/u,
    );
    expect(existsSync(path("refused"))).toBe(false);
  });

  test("that has no room for one row is refused", async () => {
    const refused = await command([...wide, ...onBoth, "--out", "refused"], { MEMORY: "500000" });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(
      /has 0\.4 MiB for a run.*, but this one needs .*\[DEVICE_MEMORY\]/u,
    );
  });

  const small = ["train", ...data, "--hidden", "8", "-b", "8", "--devices", "cpu,cuda"];

  test("whose kernel fails is opened anew, and the run ends with 0 with every row in its model once", async () => {
    // Longer than the second after which it is opened anew.
    const args = [...small, "--epochs", "100000", "--max-time", "8s", "--out", "anew"];
    const ended = await command(args, { FAIL: "cuLaunchKernel@300=700" });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(
      /^a device was lost and is opened anew \(retry 1\): device 1 \(cuda\) failed: Stand-in 0 can't be used any more: cuLaunchKernel of \w+ returns CUDA_ERROR_ILLEGAL_ADDRESS\.$/mu,
    );
    expect(events("anew", "joined")).toMatchObject([
      { device: { id: 2 }, replaces: { device: 1 } },
    ]);
    const after = events("anew", "done").filter(({ device }) => device === 2);
    expect(after.length).toBeGreaterThan(0);
    const { length: epochs } = events("anew", "epoch");
    expect(Math.floor(mergedRows("anew") / ROWS)).toBe(epochs);
  });

  test("that is gone for good leaves the run to the others, which ends with 0 with every row in its model once", async () => {
    const args = [...small, "--epochs", "30", "--device-retries", "1", "--out", "gone"];
    const ended = await command(args, { FAIL: "cuLaunchKernel@300=999" });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(
      /^a device was lost and is opened anew \(retry 1\): .*CUDA_ERROR_UNKNOWN\.$/mu,
    );
    expect(ended.stdout).toMatch(/^device 1 \(cuda\) +cuda +lost$/mu);
    expect(events("gone", "lost")).toMatchObject([{ device: 1 }]);
    expect(mergedRows("gone")).toBe(30 * ROWS);
  });

  test("alone that is gone for good ends the run with 4, says so, and leaves it to be resumed", async () => {
    const alone = [...small.slice(0, -1), "cuda", "--device-retries", "0"];
    const ended = await command([...alone, "--epochs", "40", "--out", "alone"], {
      FAIL: "cuLaunchKernel@2000=999",
    });
    expect(ended.code, ended.stderr).toBe(4);
    expect(ended.stderr).toMatch(/CUDA_ERROR_UNKNOWN/u);
    const resumed = await command(["train", "--resume", "alone", "--devices", "cpu"]);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(mergedRows("alone")).toBe(40 * ROWS);
  });

  test("can be added to a run that is under way, by its name, and one that is not there can't", async () => {
    const cpu = [...small.slice(0, -1), "cpu", "--epochs", "1000000", "--max-time", "5m"];
    const environment = environmentOf();
    const running = start([...cpu, "--out", "more"], { folder, environment });
    const file = path("more", "events.jsonl");
    await until(() => existsSync(file) && readFileSync(file, "utf8").includes('"done"'));
    const added = await command(["devices", "add", "more", "cuda:0", "--json"]);
    expect(added.code, added.stderr).toBe(0);
    expect(JSON.parse(added.stdout)).toMatchObject({
      joined: [{ device: 1, spec: "cuda:0" }],
      failed: [],
    });
    const refused = await command(["devices", "add", "more", "cuda:7"]);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(
      /the run goes on without: cuda:7: "cuda:7" can't be had: CUDA has one device here; name one of them: cuda:0 is Stand-in 0 \(gpu\).*\[DEVICE_NOT_ADDED\]\n$/u,
    );
    await until(() => events("more", "done").some(({ device }) => device === 1));
    running.child.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(ended.stderr).toContain("a device has joined: device 1 (cuda:0)");
  });
});
