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
