import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { deviceCategory, mainCategory } from "./categories.js";
import { samplesOf, secondsByCategory, type CallFrame } from "./cpu-profile.js";
import { readThreads } from "./profile.js";
import { describeProfile, summariseProfile } from "./profile-report.js";
import { createSourceFinder } from "./sources.js";

const frame = (functionName: string, url = ""): CallFrame => ({
  functionName,
  url,
  lineNumber: 0,
  columnNumber: 0,
});
const own = ({ url }: CallFrame) => url;

const rowWork = "../trainer/src/device/row-work.ts";
const native = "../cpu-kernels/src/native/native-kernels.ts";
const plain = "../model/src/kernels/plain/dense-backward.ts";

test.each([
  ["waiting", [frame("(root)"), frame("(idle)")]],
  ["garbage collection", [frame("trainRows", rowWork), frame("(garbage collector)")]],
  ["output", [frame("trainRows", rowWork), frame("output", native), frame("output")]],
  // An operation is what it is called as, whatever it is made of, by its file where it has no name.
  ["denseBackward", [frame("trainRows", rowWork), frame("", plain), frame("scatter", native)]],
  ["evaluation", [frame("evaluateRows", rowWork), frame("predict"), frame("gather", native)]],
  ["merging", [frame("blend", "../trainer/src/device/blend-shard.ts"), frame("blend", native)]],
  ["filling batches", [frame("trainRows", rowWork), frame("fillBatch", rowWork), frame("copy")]],
  ["other kernels", [frame("openDevice"), frame("allocate", native)]],
  ["rest of training", [frame("train", "../model/src/network/network.ts")]],
  ["messages", [frame("dispatch", "node:internal/event_target")]],
] as const)("a device is %s", (category, stack) => {
  expect(deviceCategory(stack, own)).toBe(category);
});

test.each([
  ["waiting", [frame("(idle)")]],
  ["reading data", [frame("next", "../cli/src/data.ts"), frame("scan", "../sparse/src/scan.ts")]],
  ["reading data", [frame("processChunk", "node:internal/zlib")]],
  ["writing", [frame("event", "../trainer/src/run/run-folder.ts"), frame("stringify")]],
  ["showing", [frame("event", "../cli/src/output/live.ts")]],
  ["initial weights", [frame("initialise", "../model/src/network/initialise.ts")]],
  ["coordination and rest", [frame("coordinate", "../trainer/src/coordinator/coordinate.ts")]],
] as const)("the main thread is %s", (category, stack) => {
  expect(mainCategory(stack, own)).toBe(category);
});

const profile = {
  nodes: [
    { id: 1, callFrame: frame("(root)"), children: [2, 3] },
    { id: 2, callFrame: frame("a"), children: [4] },
    { id: 3, callFrame: frame("(idle)") },
    { id: 4, callFrame: frame("b") },
  ],
  startTime: 1000,
  samples: [2, 4, 3, 4],
  timeDeltas: [0, 500_000, 250_000, 1_000_000],
};

test("a sample lasts until the next, and stacks begin at the root", () => {
  const samples = samplesOf(profile, (stack) =>
    stack.map(({ functionName }) => functionName).join(">"),
  );
  expect([...secondsByCategory(samples)]).toEqual([
    ["(root)>a", 0.5],
    ["(root)>a>b", 0.25],
    ["(root)>(idle)", 1],
  ]);
  expect([...secondsByCategory(samples, 501_000, 700_000).keys()]).toEqual(["(root)>a>b"]);
});

test("overhead counts from the devices' first training to their last", () => {
  const sample = <C>(at: number, seconds: number, category: C) => ({
    at: 1e6 * at,
    seconds,
    category,
  });
  const summary = summariseProfile({
    devices: [
      [
        sample(0, 10, "messages" as const),
        sample(10, 8, "output" as const),
        sample(18, 1, "merging" as const),
        sample(19, 1, "evaluation" as const),
        sample(20, 5, "waiting" as const),
      ],
      [sample(10, 7, "gather" as const), sample(17, 3, "waiting" as const)],
    ],
    main: [
      sample(0, 10, "reading data" as const),
      sample(10, 9, "waiting" as const),
      sample(19, 1, "coordination and rest" as const),
      sample(21, 1, "writing" as const),
    ],
  });
  expect(summary.devicesSeconds).toBeCloseTo(20);
  expect(summary.overhead).toBeCloseTo(4 / 20);
  expect(summary.coordination).toBeCloseTo(1 / 20);
  expect(summary.before).toEqual({ "reading data": 10 });
  expect(summary.after).toEqual({ writing: 1 });
  const text = describeProfile(summary, [{ name: "device 0 (cpu)", kernels: "plain" }]);
  expect(text).toContain("25.0 % together");
  expect(() => summariseProfile({ main: [], devices: [[]] })).toThrow("no work");
});

test("a frame's source is found by the map beside its file", () => {
  const folder = mkdtempSync(join(tmpdir(), "sources-"));
  try {
    const map = { version: 3, sources: ["../src/first.ts"], names: [], mappings: "AAAA" };
    writeFileSync(join(folder, "built.js.map"), JSON.stringify(map));
    const sourceOf = createSourceFinder();
    expect(sourceOf(frame("f", pathToFileURL(join(folder, "built.js")).href))).toBe(
      "../src/first.ts",
    );
    const bare = pathToFileURL(join(folder, "bare.js")).href;
    expect(sourceOf(frame("f", bare))).toBe(bare);
    expect(sourceOf(frame("f", "node:zlib"))).toBe("node:zlib");
    expect(() => readThreads(mkdtempSync(join(folder, "empty-")))).toThrow("(none)");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
