import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { readEventFile } from "../../test/event-reader.js";
import { createEventFile } from "./event-file.js";

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  // What is written into a folder of this name meets a full disk.
  const createWriteStream = (path: string, options: { flags: string }) =>
    path.includes("full-disk")
      ? fs.createWriteStream("/dev/full")
      : fs.createWriteStream(path, options);
  return { ...fs, createWriteStream };
});

const folder = mkdtempSync(join(tmpdir(), "heterosgd-tensorboard-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const beginning = { wallTime: 1_796_144_701.25, step: 0 };
const pointAt = (step: number) => ({
  wallTime: beginning.wallTime + step,
  step,
  scalars: [
    ["loss/train", 1 / step],
    ["évaluation/P@1", step],
  ] as const,
});

test("a file has its version, where the run starts, and every point", async () => {
  const path = join(folder, "deep", "within");
  const errors: Error[] = [];
  const file = createEventFile(path, (error) => errors.push(error));
  file.begin(beginning);
  const steps = [1, 127, 128, 300, 2 ** 31, 2 ** 40 + 5];
  for (const step of steps) file.point(pointAt(step));
  for (let step = 1; step <= 700; step++) file.point(pointAt(2 ** 41 + step));
  await file.close();
  const [name = "", ...others] = readdirSync(path);
  expect(others).toEqual([]);
  expect(name).toMatch(/^events\.out\.tfevents\.1796144701\./);
  const [version, start, ...points] = readEventFile(readFileSync(join(path, name)));
  expect(version).toMatchObject({ wallTime: beginning.wallTime, version: "brain.Event:2" });
  expect(start).toMatchObject({ step: 0, status: 1 });
  expect(points.slice(0, steps.length).map(({ step }) => step)).toEqual(steps);
  expect(points).toHaveLength(steps.length + 700);
  const [, , third] = points;
  expect(third).toMatchObject({ wallTime: beginning.wallTime + 128, step: 128 });
  expect([...third!.scalars]).toEqual([
    ["loss/train", Math.fround(1 / 128)],
    ["évaluation/P@1", 128],
  ]);
  expect(errors).toEqual([]);
});

test("a point is in the file a second later, though none follows", async () => {
  const path = join(folder, "waiting");
  const file = createEventFile(path, () => undefined);
  file.begin(beginning);
  file.point(pointAt(1));
  await vi.waitFor(
    () => {
      const [name = ""] = readdirSync(path);
      expect(readEventFile(readFileSync(join(path, name)))).toHaveLength(3);
    },
    { timeout: 20_000 },
  );
  await file.close();
});

test("a run that never began leaves nothing", async () => {
  const file = createEventFile(join(folder, "never"), () => undefined);
  await file.close();
  expect(existsSync(join(folder, "never"))).toBe(false);
});

test("two parts of a run are two files, in the order of their names", async () => {
  const path = join(folder, "parts");
  for (const [i, wallTime] of [9, 1_796_144_701, 1_796_144_702].entries()) {
    const file = createEventFile(path, () => undefined);
    file.begin({ wallTime, step: i });
    await file.close();
  }
  const steps = readdirSync(path)
    .toSorted()
    .map((name) => readEventFile(readFileSync(join(path, name)))[1]?.step);
  expect(steps).toEqual([0, 1, 2]);
});

test("where no folder can be made, that is told once and closing waits for nothing", async () => {
  writeFileSync(join(folder, "file"), "");
  const errors: NodeJS.ErrnoException[] = [];
  const file = createEventFile(join(folder, "file", "within"), (error) => errors.push(error));
  file.begin(beginning);
  file.point(pointAt(1));
  await file.close();
  expect(errors.map(({ code }) => code)).toEqual(["EEXIST"]);
});

test.skipIf(!existsSync("/dev/full"))(
  "a full disk is told once, however many points follow",
  async () => {
    const errors: NodeJS.ErrnoException[] = [];
    const file = createEventFile(join(folder, "full-disk"), (error) => errors.push(error));
    file.begin(beginning);
    for (let step = 1; step <= 2000; step++) file.point(pointAt(step));
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    file.point(pointAt(2001));
    await file.close();
    expect(errors.map(({ code }) => code)).toEqual(["ENOSPC"]);
  },
);
