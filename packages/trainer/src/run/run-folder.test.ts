import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createRunFolder } from "./run-folder.js";

// In a folder of this name, streams write to a full disk.
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const createWriteStream: typeof fs.createWriteStream = (path, options) =>
    fs.createWriteStream(String(path).includes("full-disk") ? "/dev/full" : path, options);
  return { ...fs, createWriteStream };
});

const temporary = () => mkdtempSync(join(tmpdir(), "run-"));

test("events are one JSON object a line, in order", async () => {
  const folder = await createRunFolder(join(temporary(), "a", "b"));
  folder.event({ at: 0.5, type: "pushed", device: 0, norm: null });
  folder.event({ at: 1, type: "blended", id: 1 });
  await folder.close();
  const lines = readFileSync(folder.file("events"), "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(["pushed", "blended"]);
});

test("a folder that holds anything is refused, and untouched", async () => {
  const path = temporary();
  writeFileSync(join(path, "metrics.json"), "precious");
  await expect(createRunFolder(path)).rejects.toMatchObject({ code: "RUN_EXISTS" });
  expect(readFileSync(join(path, "metrics.json"), "utf8")).toBe("precious");
});

test("force replaces an earlier run's files and leaves everything else", async () => {
  const path = temporary();
  for (const name of ["metrics.json", "events.jsonl", "notes.txt"])
    writeFileSync(join(path, name), "old");
  const folder = await createRunFolder(path, { force: true });
  await folder.close();
  expect(readdirSync(path).toSorted()).toEqual(["events.jsonl", "log.txt", "notes.txt"]);
  expect(readFileSync(folder.file("events"), "utf8")).toBe("");
});

test("JSON documents leave no temporary file behind", async () => {
  const folder = await createRunFolder(join(temporary(), "run"));
  await folder.json("config", { seed: 1 });
  await folder.close();
  expect(JSON.parse(readFileSync(folder.file("config"), "utf8"))).toEqual({ seed: 1 });
  expect(readdirSync(folder.path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("a path through a file is one clear error", async () => {
  const path = temporary();
  writeFileSync(join(path, "file"), "");
  await expect(createRunFolder(join(path, "file", "run"))).rejects.toMatchObject({
    code: "RUN_FOLDER",
    message: expect.stringContaining("a part of the path is a file"),
  });
});

test.skipIf(!existsSync("/dev/full"))(
  "a disk that fills up is one clear error when the folder is closed, and only then",
  async () => {
    const folder = await createRunFolder(join(temporary(), "full-disk"));
    folder.event({ at: 0, type: "blended", id: 1 });
    folder.log("line");
    await expect(folder.close()).rejects.toMatchObject({
      name: "TrainerError",
      code: "RUN_FOLDER",
      message: expect.stringContaining("the disk is full"),
    });
  },
);
