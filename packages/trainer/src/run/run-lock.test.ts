import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isReachable, lockFile, lockRun, runOwner, type RunOwner } from "./run-lock.js";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "run-lock-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, lockFile);

function leave(owner: Partial<RunOwner>): void {
  const written = JSON.parse(readFileSync(file(), "utf8")) as RunOwner;
  writeFileSync(file(), JSON.stringify({ ...written, ...owner }));
}

test("a folder is one process's until that releases it", async () => {
  expect(await runOwner(folder)).toBeNull();
  const lock = await lockRun(folder);
  const owner = await runOwner(folder);
  expect(owner).toMatchObject({ pid: process.pid, replaces: false });
  expect(await isReachable(owner!)).toBe(true);
  await expect(lockRun(folder)).rejects.toMatchObject({
    code: "RUN_ACTIVE",
    message: expect.stringContaining(`process ${process.pid}`) as string,
  });
  await lock.release();
  expect(readdirSync(folder)).toEqual([]);
  await (await lockRun(folder, true)).release();
});

test("its owner says when a SIGHUP makes it read its list of devices", async () => {
  const lock = await lockRun(folder);
  expect(await runOwner(folder)).toMatchObject({ listens: false });
  await lock.listen();
  expect(await runOwner(folder)).toMatchObject({ pid: process.pid, listens: true });
  await lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

test("a lock that is a link to nowhere is an error that names it", async () => {
  symlinkSync(join(folder, "nowhere"), file());
  await expect(lockRun(folder)).rejects.toMatchObject({
    code: "RUN_FOLDER",
    message: expect.stringContaining(file()) as string,
  });
});

test("what a process left that has ended is taken away", async () => {
  await lockRun(folder);
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  leave({ pid: child.pid! });
  expect(await runOwner(folder)).toBeNull();
  const lock = await lockRun(folder);
  expect(await runOwner(folder)).toMatchObject({ pid: process.pid });
  await lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

test.runIf(existsSync("/proc/self/stat"))(
  "a process that has the number of one that has ended is not taken for it",
  async () => {
    await lockRun(folder);
    leave({ started: "another start of the machine 12345" });
    expect(await runOwner(folder)).toBeNull();
    await (await lockRun(folder)).release();
  },
);

test("an owner elsewhere counts as long as it was heard of lately", async () => {
  await lockRun(folder);
  leave({ host: "elsewhere" });
  const owner = await runOwner(folder);
  expect(owner).toMatchObject({ host: "elsewhere" });
  expect(await isReachable(owner!)).toBe(false);
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(file(), longAgo, longAgo);
  expect(await runOwner(folder)).toBeNull();
  await (await lockRun(folder)).release();
});

test.each(["", "{", "[]", '{"pid":"1"}', '{"__proto__":{"pid":1}}'])(
  "what is no lock is one that nobody holds: %s",
  async (text) => {
    writeFileSync(file(), text);
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(file(), longAgo, longAgo);
    expect(await runOwner(folder)).toBeNull();
    await (await lockRun(folder)).release();
    expect(readdirSync(folder)).toEqual([]);
  },
);

test("of many that come at once one gets it", async () => {
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockRun(folder)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});
