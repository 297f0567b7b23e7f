import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLineFile } from "./line-file.js";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "line-file-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("lines are written together, in order, and without being asked for", async () => {
  const path = join(folder, "lines");
  const text = vi.fn<(number: number) => string>(String);
  const file = createLineFile<number>(path, text, (error) => expect.unreachable(error.message));
  file.write(1);
  file.write(2);
  expect(text).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(readFileSync(path, "utf8")).toBe("1\n2\n"), 10_000);
  file.write(3);
  await file.close();
  file.write(4);
  await file.close();
  expect(readFileSync(path, "utf8")).toBe("1\n2\n3\n");
});

test("many lines don't wait, and none is lost or doubled", async () => {
  const path = join(folder, "lines");
  const text = vi.fn<(number: number) => string>(String);
  const file = createLineFile<number>(path, text, (error) => expect.unreachable(error.message));
  const numbers = Array.from({ length: 2000 }, (_, i) => i);
  for (const number of numbers) file.write(number);
  expect(text.mock.calls.length).toBeGreaterThan(1000);
  await file.close();
  expect(readFileSync(path, "utf8")).toBe(numbers.map((number) => `${number}\n`).join(""));
});

test("a file that can't be written is told once, and closes", async () => {
  const onError = vi.fn<(error: Error) => void>();
  const file = createLineFile<number>(join(folder, "absent", "lines"), String, onError);
  file.write(1);
  await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce(), 10_000);
  file.write(2);
  await file.close();
  expect(onError).toHaveBeenCalledOnce();
  expect(existsSync(join(folder, "absent"))).toBe(false);
});

test("a position is where all lines until then end, on the disk", async () => {
  const path = join(folder, "lines");
  const fail = (error: Error) => expect.unreachable(error.message);
  const file = createLineFile<string>(path, (line) => line, fail);
  file.write("één");
  file.write("two");
  const position = file.position();
  file.write("three");
  expect(await position).toEqual({ bytes: 10, lines: 2 });
  expect(readFileSync(path, "utf8").startsWith("één\ntwo\n")).toBe(true);
  await file.close();
  await expect(file.position()).rejects.toThrow(Error);
  const on = createLineFile<string>(path, (line) => line, fail, { bytes: 16, lines: 3 });
  on.write("four");
  expect(await on.position()).toEqual({ bytes: 21, lines: 4 });
  expect(await on.position()).toEqual({ bytes: 21, lines: 4 });
  await on.close();
  expect(readFileSync(path, "utf8")).toBe("één\ntwo\nthree\nfour\n");
});

test("there is no position where lines could not be written", async () => {
  const errors: Error[] = [];
  const path = join(folder, "missing", "lines");
  const file = createLineFile<string>(
    path,
    (line) => line,
    (error) => errors.push(error),
  );
  file.write("one");
  await expect(file.position()).rejects.toThrow("ENOENT");
  await file.close();
  expect(errors).toHaveLength(1);
});
