import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadModel } from "@heterosgd/model/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  bestCheckpoint,
  latestCheckpoint,
  listCheckpoints,
} from "../src/checkpoint/list-checkpoints.js";
import { checkpointFiles } from "../src/checkpoint/manifest.js";
import { openCheckpoint } from "../src/checkpoint/open-checkpoint.js";
import {
  discardAfter,
  pruneCheckpoints,
  sweepCheckpoints,
} from "../src/checkpoint/remove-checkpoints.js";
import { writeCheckpoint } from "../src/checkpoint/write-checkpoint.js";
import { TrainerError } from "../src/index.js";
import { bitsOf, emptyArrays, randomCheckpoint, temporaryFolder } from "./random-checkpoint.js";

const folders: string[] = [];
async function folder(): Promise<string> {
  const made = await temporaryFolder();
  folders.push(made);
  return made;
}
afterAll(async () => {
  for (const each of folders) await rm(each, { recursive: true, force: true });
});

/** Writes checkpoints of these steps, evaluated or not. */
async function written(steps: readonly (readonly [step: number, precision: number | null])[]) {
  const at = await folder();
  for (const [step, precision] of steps) {
    await writeCheckpoint(at, randomCheckpoint(step, { step, precision }));
  }
  return at;
}

const namesIn = async (at: string) => (await readdir(at)).toSorted();

async function refusal(work: Promise<unknown>): Promise<TrainerError> {
  const error: unknown = await work.then(
    () => new Error("nothing was refused"),
    (reason: unknown) => reason,
  );
  if (error instanceof TrainerError) return error;
  throw error;
}

describe("a round trip", () => {
  test.each([
    ["everything", {}],
    ["plain SGD with the global model alone", { rule: null, models: ["global"] as const }],
    ["Adagrad", { rule: { name: "adagrad", epsilon: 1e-10 } as const }],
    ["replicas without previous models", { models: ["global", "replica:12"] as const }],
  ])("keeps %s to the last bit", async (_, options) => {
    for (let seed = 1; seed <= 5; seed++) {
      const contents = randomCheckpoint(seed, options);
      const at = await folder();
      const { path, bytes } = await writeCheckpoint(at, contents);
      expect(path).toBe(join(at, "step-100"));
      const checkpoint = await openCheckpoint(path);
      expect(checkpoint.bytes).toBeLessThan(bytes);
      expect(checkpoint.record).toEqual(contents.record);
      for (const [i, { name }] of contents.record.models.entries()) {
        const arrays = emptyArrays(contents.models[i]!);
        await checkpoint.load(name, arrays);
        expect(bitsOf(arrays)).toEqual(bitsOf(contents.models[i]!));
      }
    }
  });

  test("has a model file like any other", async () => {
    const contents = randomCheckpoint(3);
    const { path } = await writeCheckpoint(await folder(), contents);
    const { modelFile } = await openCheckpoint(path);
    const model = await loadModel(modelFile);
    expect(model.shape).toEqual(contents.record.shape);
    expect(model.labelNames).toEqual(contents.labelNames);
    expect(model.info).toEqual(contents.info);
  });

  test("knows no other models and no arrays of other sizes", async () => {
    const contents = randomCheckpoint(3, { models: ["global"] });
    const checkpoint = await openCheckpoint((await writeCheckpoint(await folder(), contents)).path);
    const arrays = emptyArrays(contents.models[0]!);
    await expect(checkpoint.load("previous", arrays)).rejects.toThrow(RangeError);
    const short = { ...arrays, parameters: new Float32Array(3) };
    await expect(checkpoint.load("global", short)).rejects.toThrow(RangeError);
  });

  test("writes no model that is not finite, and nothing that could not be read", async () => {
    const at = await folder();
    const contents = randomCheckpoint(1);
    contents.models[1]!.state[0]![2] = Number.NaN;
    const error = await refusal(writeCheckpoint(at, contents));
    expect(error.code).toBe("CHECKPOINT_WRITE");
    expect(error.message).toContain("not finite");
    const { record, models } = randomCheckpoint(1);
    const wrong = { record: { ...record, seconds: Number.NaN }, models };
    expect((await refusal(writeCheckpoint(at, wrong))).message).toContain("state.json.seconds");
    expect(await namesIn(at)).toEqual([]);
  });
});

describe("damage", () => {
  let path: string;
  const originals = new Map<string, Buffer>();
  const all = [...checkpointFiles, "DONE"];
  beforeAll(async () => {
    path = (await writeCheckpoint(await folder(), randomCheckpoint(5))).path;
    for (const name of all) originals.set(name, await readFile(join(path, name)));
  });

  /** Opens the checkpoint with one of its files changed. */
  async function openWith(name: string, bytes: Uint8Array): Promise<TrainerError> {
    await writeFile(join(path, name), bytes);
    try {
      return await refusal(openCheckpoint(path));
    } finally {
      await writeFile(join(path, name), originals.get(name)!);
    }
  }

  const codes = ["CHECKPOINT_DAMAGED", "CHECKPOINT_FORMAT"];
  // Every bit and every length of all files are some 60,000: too many for each time.
  const everyBit = process.env["CHECKPOINT_CASES"] !== undefined;
  const strideOf = (name: string) => (everyBit || name === "DONE" ? 1 : 13);

  test.each(all)(
    "one flipped bit in any byte of %s is refused",
    { timeout: 300_000 },
    async (name) => {
      const original = originals.get(name)!;
      for (let byte = 0; byte < original.length; byte++) {
        const bits = everyBit ? [0, 1, 2, 3, 4, 5, 6, 7] : [(byte * 5 + 3) % 8];
        for (const bit of bits) {
          const flipped = Buffer.from(original);
          flipped[byte]! ^= 1 << bit;
          const { code } = await openWith(name, flipped);
          expect(codes, `bit ${bit} of byte ${byte}`).toContain(code);
        }
      }
    },
  );

  test.each(all)("%s cut off anywhere is refused", { timeout: 300_000 }, async (name) => {
    const original = originals.get(name)!;
    for (let length = 0; length < original.length; length += strideOf(name)) {
      const { code } = await openWith(name, original.subarray(0, length));
      expect(codes, `${length} bytes`).toContain(code);
    }
    expect(codes).toContain((await openWith(name, Buffer.concat([original, original]))).code);
  });

  test.each(all)("a missing %s is refused", async (name) => {
    await rename(join(path, name), join(path, "elsewhere"));
    const { code, message } = await refusal(openCheckpoint(path));
    await rename(join(path, "elsewhere"), join(path, name));
    expect(code).toBe("CHECKPOINT_DAMAGED");
    expect(message).toContain(name);
    await openCheckpoint(path);
  });

  test.each(all)("a link or a folder in the place of %s is refused", async (name) => {
    const elsewhere = join(path, "elsewhere");
    await rename(join(path, name), elsewhere);
    await symlink(elsewhere, join(path, name));
    expect((await refusal(openCheckpoint(path))).code).toBe("CHECKPOINT_DAMAGED");
    await rm(join(path, name));
    await mkdir(join(path, name));
    expect((await refusal(openCheckpoint(path))).code).toBe("CHECKPOINT_DAMAGED");
    await rm(join(path, name), { recursive: true });
    await rename(elsewhere, join(path, name));
  });

  test("one of a later version asks for an update, whatever else it says", async () => {
    const later = JSON.stringify({ format: "heterosgd-checkpoint", version: 2, files: {} });
    const { code, message } = await openWith("DONE", Buffer.from(later));
    expect(code).toBe("CHECKPOINT_FORMAT");
    expect(message).toMatch(/version 2, this program reads 1; update heterosgd$/);
  });

  test("a folder under another step's name is refused", async () => {
    const other = join(path, "..", "step-7");
    await rename(path, other);
    const { code, message } = await refusal(openCheckpoint(other));
    await rename(other, path);
    expect(code).toBe("CHECKPOINT_DAMAGED");
    expect(message).toContain("step 100");
  });
});

describe("many checkpoints", () => {
  test("are listed, the newest and the best found, unusable ones named", async () => {
    const at = await written([
      [900, 0.3],
      [1000, 0.7],
      [2000, null],
      [10_000, 0.4],
    ]);
    await rm(join(at, "step-2000", "model.safetensors"));
    await mkdir(join(at, "step-30"));
    await mkdir(join(at, "step-01"));
    await writeFile(join(at, "notes.txt"), "");
    const { checkpoints, unusable } = await listCheckpoints(at);
    expect(checkpoints.map(({ record }) => record.step)).toEqual([900, 1000, 10_000]);
    expect(unusable.map(({ path }) => path)).toEqual([join(at, "step-30"), join(at, "step-2000")]);
    expect(unusable.map(({ error }) => error.code)).toEqual([
      "CHECKPOINT_DAMAGED",
      "CHECKPOINT_DAMAGED",
    ]);
    expect((await latestCheckpoint(at)).record.step).toBe(10_000);
    expect((await bestCheckpoint(at)).record.step).toBe(1000);
  });

  test("of a damaged newest one the one before is taken", async () => {
    const at = await written([
      [1, 0.1],
      [2, 0.2],
    ]);
    const file = join(at, "step-2", "optimizer.safetensors");
    const bytes = await readFile(file);
    bytes[bytes.length - 1]! ^= 1;
    await writeFile(file, bytes);
    const skipped: string[] = [];
    const latest = await latestCheckpoint(at, (unusable) => skipped.push(unusable.path));
    expect(latest.record.step).toBe(1);
    expect(skipped).toEqual([join(at, "step-2")]);
    expect((await bestCheckpoint(at)).record.step).toBe(1);
  });

  test("of a folder without any the reasons are told", async () => {
    const at = await written([[5, 0.1]]);
    await rm(join(at, "step-5", "DONE"));
    const error = await refusal(latestCheckpoint(at));
    expect(error.code).toBe("NO_CHECKPOINT");
    expect(error.message).toContain("DONE");
    expect((await refusal(latestCheckpoint(join(at, "nothing")))).code).toBe("NO_CHECKPOINT");
    await writeFile(join(at, "file"), "");
    expect((await refusal(latestCheckpoint(join(at, "file")))).code).toBe("CHECKPOINT_UNREADABLE");
  });

  test("at one step are all kept, the later one being the newer", async () => {
    const at = await folder();
    for (const seed of [1, 2, 3]) await writeCheckpoint(at, randomCheckpoint(seed, { step: 4 }));
    expect(await namesIn(at)).toEqual(["step-4", "step-4-2", "step-4-3"]);
    const { record } = randomCheckpoint(3, { step: 4 });
    expect((await latestCheckpoint(at)).record).toEqual(record);
  });

  test("are thinned out to the newest ones and the best", async () => {
    const steps = [
      [10, 0.1],
      [20, 0.9],
      [30, 0.9],
      [40, null],
      [50, 0.2],
      [60, 0.3],
    ] as const;
    const at = await written(steps);
    await mkdir(join(at, "step-15"));
    const removed = await pruneCheckpoints(at, 2);
    expect(removed).toEqual([10, 20, 40].map((step) => join(at, `step-${step}`)));
    expect(await namesIn(at)).toEqual(["step-15", "step-30", "step-50", "step-60"]);
    expect(await pruneCheckpoints(at, 1)).toEqual([join(at, "step-50")]);
    expect(await pruneCheckpoints(at, 1)).toEqual([]);
    await expect(pruneCheckpoints(at, 0)).rejects.toThrow(RangeError);
  });

  test("after the one that a run goes on from are discarded", async () => {
    const at = await written([
      [10, 0.1],
      [20, 0.2],
      [30, 0.3],
    ]);
    await writeCheckpoint(at, randomCheckpoint(1, { step: 20 }));
    await discardAfter(at, join(at, "step-20"));
    expect(await namesIn(at)).toEqual(["step-10", "step-20"]);
  });

  test("are left alone when leftovers are swept", async () => {
    const at = await written([[10, 0.1]]);
    await mkdir(join(at, "step-20"));
    await writeFile(join(at, "step-20", "state.json"), "{}");
    const temporary = ".step-30-01234567-89ab-cdef-0123-456789abcdef.tmp";
    await mkdir(join(at, temporary, "deep"), { recursive: true });
    await writeFile(join(at, "step-40"), "somebody else's");
    await mkdir(join(at, "step-50x"));
    const removed = await sweepCheckpoints(at);
    expect(removed.toSorted()).toEqual([join(at, temporary), join(at, "step-20")]);
    expect(await namesIn(at)).toEqual(["step-10", "step-40", "step-50x"]);
    expect(await sweepCheckpoints(join(at, "nothing"))).toEqual([]);
  });
});
