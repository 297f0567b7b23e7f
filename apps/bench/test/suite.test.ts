import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { outcomeOf, tinySuite, type TinySuite } from "./tiny-suite.js";

// Every run is a process of its own: seconds in all, minutes on a machine that is busy otherwise.
vi.setConfig({ testTimeout: 120_000 });

let suite: TinySuite;
beforeEach(() => (suite = tinySuite()));
afterEach(() => suite.remove());

const runFile = () => join(suite.out, "runs", "test_made-up_four_sync_seed=1.json");

test("real devices are run one run at a time, in turn, and recorded with machine and load", async () => {
  suite.write({
    platforms: [{ name: "two", devices: "cpu,cpu@0.5" }],
    algorithms: [{ algorithm: "adaptive-sgd" }, { algorithm: "sync" }],
    seeds: [1, 2],
    goal: { bestOf: "sync" },
    losses: [1],
  });
  const { code, stdout, stderr } = await suite.run();
  expect(code, stderr).toBe(0);
  const records = suite.records().toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  expect(records.map(({ algorithm, seed }) => `${algorithm} ${seed}`)).toEqual([
    "adaptive-sgd 1",
    "sync 1",
    "sync 2",
    "adaptive-sgd 2",
  ]);
  for (const { verb, environment, jobs, result } of records) {
    expect({ verb, jobs }).toEqual({ verb: "train", jobs: 1 });
    expect(environment.load).toBeGreaterThanOrEqual(0);
    expect(environment.commit === null || environment.commit.length >= 7).toBe(true);
    expect(result!.devices.map(({ name }) => name)).toEqual([
      "device 0 (cpu)",
      "device 1 (cpu@0.5)",
    ]);
    expect(result!.curve.length).toBeGreaterThan(0);
  }
  const spans = records.map(({ startedAt, wallSeconds }) => {
    const began = Date.parse(startedAt);
    return { began, ended: began + 1000 * wallSeconds };
  });
  // By the clock, which may be set, and in whole milliseconds.
  const overlaps = spans.slice(1).filter(({ began }, i) => began < spans[i]!.ended - 5);
  expect(overlaps).toEqual([]);
  expect(stdout).not.toContain("simulated");
  expect(readFileSync(join(suite.out, "summary.md"), "utf8")).toContain("utilisation by device");
  expect(await suite.run("--jobs", "2")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("real runs must have the machine to themselves") as string,
  });
});

test("a rate at which training diverges is a result, and is not chosen", async () => {
  suite.write({ grid: { learningRate: [1e30, 0.5] } });
  const { code, stderr } = await suite.run();
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/learningRate=1e\+30, seed 1: diverged/);
  const [tests, diverged, tuning] = suite
    .records()
    .toSorted(
      (a, b) =>
        a.stage.localeCompare(b.stage) ||
        (b.tuned["learningRate"] as number) - (a.tuned["learningRate"] as number),
    );
  expect(tests).toMatchObject({ stage: "test", tuned: { learningRate: 0.5 } });
  expect(tuning).toMatchObject({ tuned: { learningRate: 0.5 }, diverged: null });
  expect(diverged).toMatchObject({ tuned: { learningRate: 1e30 }, result: null });
  expect(diverged!.diverged).toContain("[DIVERGED]");
});

test("an algorithm that diverges on the test rows, or with all options, is exit code 1", async () => {
  suite.write({
    algorithms: [
      { algorithm: "sync" },
      { name: "wild", algorithm: "sync", options: { learningRate: 1e30 } },
      { name: "wilder", algorithm: "sync", grid: { learningRate: [1e30, 2e30] } },
    ],
  });
  const { code, stdout, stderr } = await suite.run();
  expect(code).toBe(1);
  expect(stderr).toContain("made-up, four, wilder: training diverged with all options tried");
  expect(stdout).toMatch(/│ sync +│ – +│ [01]\.\d{4} /);
  expect(stdout).toMatch(/│ wild +│ – +│ – /);
  expect(stdout).not.toMatch(/│ wilder/);
});

test("a changed suite is refused with both commands, and run again with --replace", async () => {
  suite.write();
  expect(await suite.run()).toMatchObject({ code: 0 });
  const [before] = suite.records();
  suite.write({ stop: { epochs: 2 } });
  const refused = await suite.run();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`is of another command, so the suite or its tuning has changed`);
  expect(refused.stderr).toContain(`was: ${before!.command}`);
  expect(suite.records()).toEqual([before]);
  expect(await suite.run("--replace")).toMatchObject({ code: 0 });
  const [after, ...others] = suite.records();
  expect(others).toEqual([]);
  expect(after!.command).toBe(before!.command.replace("--epochs 1", "--epochs 2"));
});

test("results of another version are kept with a note, and run again with --replace", async () => {
  suite.write();
  await suite.run();
  const [record] = suite.records();
  const old = { ...record!, versions: { ...record!.versions, heterosgd: "0.0.0-old" } };
  writeFileSync(runFile(), JSON.stringify(old));
  const kept = await suite.run();
  expect(kept).toMatchObject({ code: 0 });
  expect(kept.stderr).toContain("1 runs are of another commit or version");
  expect(suite.records()).toEqual([old]);
  expect(await suite.run("--replace")).toMatchObject({ code: 0 });
  expect(suite.records()[0]!.versions).toEqual(record!.versions);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "%s ends the run under way, leaves nothing behind, and the suite goes on",
  async (signal, code) => {
    suite.write({ seeds: [1, 2, 3] });
    const child = suite.start(
      "run",
      join(suite.folder, "tiny.json"),
      "--out",
      suite.out,
      "--jobs",
      "1",
    );
    child.stderr.on("data", (text: Buffer) => {
      if (text.toString().includes("[1/3]")) child.kill(signal);
    });
    const stopped = await outcomeOf(child);
    expect(stopped.code, stopped.stderr).toBe(code);
    expect(stopped.stderr).toContain("stopped; the same command goes on with what is missing");
    const before = suite.records();
    expect(before.length).toBeGreaterThanOrEqual(1);
    expect(before.length).toBeLessThan(3);
    expect(readdirSync(suite.temporary)).toEqual([]);
    expect(await suite.run()).toMatchObject({ code: 0 });
    const after = suite.records();
    expect(after.map(({ seed }) => seed)).toEqual([1, 2, 3]);
    expect(after.slice(0, before.length)).toEqual(before);
  },
);

test("a damaged record is named, and once it is deleted the suite goes on", async () => {
  suite.write();
  await suite.run();
  writeFileSync(runFile(), "{");
  const { code, stderr } = await suite.run();
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^error: .*test_made-up_four_sync_seed=1\.json cannot be read: .*; delete it/,
  );
});

test("members and names that there are not are exit code 2, and nothing is run", async () => {
  suite.write({ epochs: 3 });
  const member = await suite.run();
  expect(member.code).toBe(2);
  expect(member.stderr).toMatch(/^error: .*tiny\.json: the suite: Unrecognized key: "epochs"\n$/);
  suite.write();
  const part = await suite.run("--only", "elastic");
  expect(part.code).toBe(2);
  expect(part.stderr).toContain('"elastic" is no part of the suite tiny; its parts are made-up');
  const seeds = await suite.run("--seeds", "1,x");
  expect(seeds.code).toBe(2);
  expect(seeds.stderr).toContain("--seeds: expected whole numbers");
  expect(readdirSync(suite.folder)).not.toContain("out");
});

test("an option that the command refuses ends the suite with the command's words", async () => {
  suite.write({ options: { kappa: 1 } });
  const { code, stderr } = await suite.run();
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: heterosgd simulate .* failed \(2\): /);
  expect(stderr).not.toContain("    at ");
});
