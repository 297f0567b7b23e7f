import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { ownFile } from "../own-files.js";
import { runLinePeer } from "./line-peer.js";
import { runPeer } from "./run-peer.js";

const folder = mkdtempSync(join(tmpdir(), "run-peer-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const settings = { threads: 1, batch: 8, hidden: 4, epochs: 2, rate: 0.1, maxSeconds: 5 };

const program = (source: string) => [process.execPath, "-e", source] as const;
const peer = (source: string) => ({ command: program(source), environment: {} });
const says = (...lines: unknown[]) =>
  peer(lines.map((line) => `console.log(${JSON.stringify(JSON.stringify(line))});`).join(""));

test("what a process says, how it ends and what memory it takes is told", async () => {
  const heard: string[] = [];
  const source =
    'const much = Buffer.alloc(200e6, 1); console.error("oh"); setTimeout(() => process.exit(much[5] + 2), 500);';
  const end = await runPeer({
    command: program(source),
    environment: { NODE_OPTIONS: undefined },
    maxSeconds: 60,
    onText: (stream, text) => heard.push(`${stream}: ${text}`),
  });
  expect(heard).toEqual(["stderr: oh\n"]);
  expect(end.code).toBe(3);
  expect(end.seconds).toBeGreaterThan(0.4);
  const least = process.platform === "linux" ? 200e6 : 0;
  expect(end.peak ?? 0).toBeGreaterThanOrEqual(least);
});

test("what takes too long is killed, and what is not there is an error", async () => {
  const forever = program("setInterval(() => undefined, 1000)");
  const silent = { onText: () => undefined };
  expect(await runPeer({ command: forever, maxSeconds: 0.2, ...silent })).toMatchObject({
    code: null,
    isLate: true,
  });
  const aborts = program("process.abort()");
  expect(await runPeer({ command: aborts, maxSeconds: 60, ...silent })).toMatchObject({
    code: null,
    isLate: false,
  });
  const absent = runPeer({ command: [join(folder, "absent")], maxSeconds: 1, ...silent });
  await expect(absent).rejects.toThrow("ENOENT");
});

test("epochs are told line by line", async () => {
  const epoch = { rows: 10, seconds: 1, precision: 0.5 };
  const whole = await runLinePeer(says({ ready: "it 1" }, epoch, epoch), settings);
  expect(whole).toMatchObject({ milestones: [epoch, epoch], stopped: false });
  const short = await runLinePeer(says({ ready: "it 1" }, epoch), settings);
  expect(short.stopped).toBe(true);
  const late = { ...epoch, seconds: 6 };
  expect((await runLinePeer(says({ ready: "it 1" }, epoch, late), settings)).stopped).toBe(true);
});

test("a peer that fails says why", async () => {
  const fails = peer('console.error("no such thing"); process.exit(1)');
  await expect(runLinePeer(fails, settings)).rejects.toThrow(/failed \(1\): no such thing/u);
  await expect(runLinePeer(says({ missing: "torch" }), settings)).rejects.toThrow(/missing/u);
});

test("the driver of TensorFlow.js says that it is missing", async () => {
  const driver = fileURLToPath(ownFile("peers/tfjs-train.mjs"));
  let text = "";
  const { code } = await runPeer({
    command: [process.execPath, driver, folder, JSON.stringify(settings), folder],
    maxSeconds: 60,
    onText: (stream, part) => void (stream === "stdout" && (text += part)),
  });
  expect(code).toBe(0);
  expect(JSON.parse(text)).toEqual({ missing: expect.stringContaining("@tensorflow/tfjs") });
});
