import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MOST_BYTES, readSmallFile, whyUnreadable } from "./small-file.js";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "small-file-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a text is read whole, as long as one may be", async () => {
  const file = join(folder, "config.json");
  writeFileSync(file, "grün");
  expect(await readSmallFile(file)).toBe("grün");
  truncateSync(file, MOST_BYTES);
  expect(await readSmallFile(file)).toHaveLength(MOST_BYTES - 1);
});

test("what is longer is refused, without being read to its end", async () => {
  const file = join(folder, "config.json");
  writeFileSync(file, "");
  truncateSync(file, 2 ** 40);
  await expect(readSmallFile(file)).rejects.toThrow("longer than 16 MiB");
});

test("why a file can't be read is said in words", async () => {
  const why = async (path: string) => readSmallFile(path).catch(whyUnreadable);
  expect(await why(join(folder, "none"))).toBe("there is no such file");
  expect(await why(folder)).toBe("it is a folder");
});
