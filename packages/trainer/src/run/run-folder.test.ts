import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { TrainerError } from "../errors.js";
import { checkRunFolder, createRunFolder, isHalfMade, runFiles } from "./run-folder.js";
import { lockFile } from "./run-lock.js";

// In a folder of this name, streams write to a full disk.
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const createWriteStream: typeof fs.createWriteStream = (path, options) =>
    fs.createWriteStream(String(path).includes("full-disk") ? "/dev/full" : path, options);
  return { ...fs, createWriteStream };
});

const temporary = () => mkdtempSync(join(tmpdir(), "run-"));
const config = { seed: 1 };
const read = (...names: string[]) => readFileSync(join(...names), "utf8");

/** A folder that holds a run whose files all say "old", and notes. */
function withOldRun(): string {
  const path = temporary();
  for (const name of [...Object.values(runFiles), "notes.txt"])
    writeFileSync(join(path, name), "old");
  return path;
}

test("events are one JSON object a line, in order", async () => {
  const folder = await createRunFolder(join(temporary(), "a", "b"), config);
  folder.event({ at: 0.5, type: "pushed", device: 0, norm: null });
  folder.event({ at: 1, type: "blended", id: 1 });
  await folder.close();
  const lines = read(folder.file("events")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(["pushed", "blended"]);
});

test("configuration and metrics leave no temporary file behind", async () => {
  const folder = await createRunFolder(join(temporary(), "run"), config);
  await folder.metrics({ rows: 3 });
  await folder.close();
  expect(JSON.parse(read(folder.file("config")))).toEqual(config);
  expect(JSON.parse(read(folder.file("metrics")))).toEqual({ rows: 3 });
  expect(readdirSync(folder.path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test.each([{}, { force: true }])(
  "a folder that holds no run is refused with %j",
  async (options) => {
    const path = temporary();
    writeFileSync(join(path, "metrics.json"), "precious");
    const refused = { code: "RUN_EXISTS", message: expect.stringContaining("no run lies there") };
    await expect(checkRunFolder(path, options)).rejects.toMatchObject(refused);
    await expect(createRunFolder(path, config, options)).rejects.toMatchObject(refused);
    expect(readdirSync(path)).toEqual(["metrics.json"]);
  },
);

test("an earlier run is refused without force", async () => {
  const path = withOldRun();
  await expect(createRunFolder(path, config)).rejects.toMatchObject({
    code: "RUN_EXISTS",
    message: expect.stringContaining("--force"),
  });
  expect(read(path, "config.json")).toBe("old");
});

test("an earlier run stays whole until the one that replaces it is complete", async () => {
  const path = withOldRun();
  const before = readdirSync(path);
  const folder = await createRunFolder(path, config, { force: true });
  writeFileSync(folder.draft("model"), "new");
  await folder.metrics({ rows: 3 });
  await folder.close();
  for (const name of before) expect(read(path, name)).toBe("old");
  await folder.replace();
  await folder.lock.release();
  expect(readdirSync(path)).toEqual(before);
  expect(read(folder.file("model"))).toBe("new");
  expect(JSON.parse(read(folder.file("config")))).toEqual(config);
  expect(read(folder.file("events"))).toBe("");
  expect(read(path, "notes.txt")).toBe("old");
});

test("what an attempt to replace a run left makes way for the next attempt", async () => {
  const path = withOldRun();
  const first = await createRunFolder(path, config, { force: true });
  writeFileSync(first.draft("model"), "salvaged");
  await first.close();
  await first.lock.release();
  const second = await createRunFolder(path, { seed: 2 }, { force: true });
  await second.close();
  expect(JSON.parse(read(second.draft("config")))).toEqual({ seed: 2 });
  expect(existsSync(second.draft("model"))).toBe(false);
});

test("a file that the run reads is not replaced, whatever its name", async () => {
  const path = withOldRun();
  const input = join(temporary(), "train.txt");
  linkSync(join(path, "log.txt"), input);
  const options = { force: true, inputs: [join(temporary(), "absent"), input] };
  const refused = {
    code: "RUN_EXISTS",
    message: expect.stringContaining("log.txt, which it reads"),
  };
  await expect(checkRunFolder(path, options)).rejects.toMatchObject(refused);
  await expect(createRunFolder(path, config, options)).rejects.toMatchObject(refused);
  expect(read(input)).toBe("old");
});

test("runs that begin at once under one automatic name get folders of their own", async () => {
  const path = join(temporary(), "runs", "same");
  await checkRunFolder(path, { unique: true });
  const folders = await Promise.all(
    [1, 2, 3].map((seed) => createRunFolder(path, { seed }, { unique: true })),
  );
  await Promise.all(folders.map((folder) => folder.close()));
  expect(folders.map((folder) => folder.path).toSorted()).toEqual([path, `${path}-2`, `${path}-3`]);
});

test("of two runs that begin at once in one folder, one is refused and the other whole", async () => {
  const path = join(temporary(), "same");
  const begun = await Promise.allSettled([1, 2].map((seed) => createRunFolder(path, { seed })));
  expect(begun.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const names = ["config.json", "events.jsonl", "log.txt", lockFile];
  expect(readdirSync(path).toSorted()).toEqual(names);
});

test.each([
  ["nothing", []],
  ["its events", ["events.jsonl"]],
  ["its events and its log", ["events.jsonl", "log.txt"]],
  ["part of its configuration", ["events.jsonl", "log.txt", "config.json.17.tmp"]],
])(
  "a process that was killed when it had made %s of a run's folder is in nobody's way",
  async (_, names) => {
    const path = temporary();
    // A process that has ended.
    const owner = { pid: 2 ** 30, host: "", space: "", started: null, since: "", replaces: false };
    writeFileSync(join(path, lockFile), JSON.stringify(owner));
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(join(path, lockFile), longAgo, longAgo);
    for (const name of names) writeFileSync(join(path, name), name.endsWith(".tmp") ? "{" : "");
    expect(await isHalfMade(path)).toBe(true);
    await checkRunFolder(path);
    const folder = await createRunFolder(path, config);
    await folder.close();
    await folder.lock.release();
    expect(readdirSync(path).toSorted()).toEqual(["config.json", "events.jsonl", "log.txt"]);
  },
);

test.each(["events.jsonl", "log.txt", "config.json", "notes.txt"])(
  "a folder is not half made where %s holds something",
  async (name) => {
    const path = temporary();
    writeFileSync(join(path, name), "x");
    expect(await isHalfMade(path)).toBe(false);
    await expect(createRunFolder(path, config)).rejects.toMatchObject({ code: "RUN_EXISTS" });
    expect(readdirSync(path)).toEqual([name]);
  },
);

test("a path through a file, or to one, is one clear error", async () => {
  const path = temporary();
  writeFileSync(join(path, "file"), "");
  const refused = { code: "RUN_FOLDER", message: expect.stringContaining("is a file") };
  for (const bad of [join(path, "file"), join(path, "file", "run")]) {
    await expect(checkRunFolder(bad)).rejects.toMatchObject(refused);
    await expect(createRunFolder(bad, config)).rejects.toMatchObject(refused);
  }
});

test.skipIf(!existsSync("/proc/self"))(
  "a folder in which none can be made is one clear error",
  async () => {
    const refused = { code: "RUN_FOLDER", message: expect.stringContaining("/proc/a/b: ") };
    await expect(checkRunFolder("/proc/a/b")).rejects.toMatchObject(refused);
    await expect(createRunFolder("/proc/a/b", config)).rejects.toMatchObject(refused);
  },
);

test("a check leaves nothing behind", async () => {
  const path = temporary();
  await checkRunFolder(join(path, "a", "b"));
  await checkRunFolder(path);
  expect(readdirSync(path)).toEqual([]);
});

test("a folder that cannot be filled is taken away again", async () => {
  const path = temporary();
  const unwritable: Record<string, unknown> = {};
  unwritable["itself"] = unwritable;
  await expect(createRunFolder(join(path, "a", "b"), unwritable)).rejects.toMatchObject({
    code: "RUN_FOLDER",
  });
  expect(readdirSync(path)).toEqual([]);
  mkdirSync(join(path, "empty"));
  await expect(createRunFolder(join(path, "empty"), unwritable)).rejects.toThrow(
    "cannot write the run folder",
  );
  expect(readdirSync(join(path, "empty"))).toEqual([]);
});

test.skipIf(!existsSync("/dev/full"))(
  "a disk that fills up is told at once and once, and is the error when the folder is closed",
  async () => {
    const failure = new Promise<TrainerError[]>((resolve) => {
      const told: TrainerError[] = [];
      void createRunFolder(join(temporary(), "full-disk"), config, {
        onFailure: (error) => told.push(error),
      }).then(async (folder) => {
        folder.event({ at: 0, type: "blended", id: 1 });
        folder.log("line");
        await vi.waitFor(() => expect(told).toHaveLength(1), 10_000);
        folder.event({ at: 1, type: "blended", id: 2 });
        await expect(folder.close()).rejects.toBe(told[0]);
        folder.log("too late");
        resolve(told);
      });
    });
    expect(await failure).toMatchObject([
      {
        name: "TrainerError",
        code: "RUN_FOLDER",
        message: expect.stringContaining("the disk is full"),
      },
    ]);
  },
);
