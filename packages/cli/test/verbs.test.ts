import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadModel, saveModel } from "@heterosgd/model/node";
import { beforeAll, describe, expect, test } from "vitest";
import { run, start, temporaryFolder, until, writeEasyData } from "./command.js";

const folder = temporaryFolder();
const model = "m/model.safetensors";

const command = (args: readonly string[], input: string | Uint8Array = "") =>
  run(args, { folder, input });

interface PredictedRow {
  readonly row: number;
  readonly line: number;
  readonly labels: readonly {
    readonly label: string;
    readonly id: number;
    readonly score: number;
  }[];
}

const rowsOf = (stdout: string) =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as PredictedRow);

beforeAll(async () => {
  writeEasyData(folder);
  writeFileSync(join(folder, "names.txt"), "zero\none\ntwo\n");
  const args = ["--label-names", "names.txt", "--devices", "cpu", "--batch", "16", "--out", "m"];
  const { code, stderr } = await command([
    "train",
    "train.txt",
    ...args,
    "--learning-rate",
    "0.02",
  ]);
  if (code !== 0) throw new Error(stderr);
}, 60_000);

describe("predict", () => {
  test("reads rows from standard input and writes a JSON line a row, with names", async () => {
    const { code, stdout } = await command(["predict", model, "-k", "2"], "0:1\n\n4:1 12:0.25\n");
    expect(code).toBe(0);
    const rows = rowsOf(stdout);
    expect(rows.map(({ row, line }) => [row, line])).toEqual([
      [0, 1],
      [1, 3],
    ]);
    expect(rows.map(({ labels }) => labels.length)).toEqual([2, 2]);
    expect(rows[0]?.labels[0]).toMatchObject({ label: "zero", id: 0 });
    expect(rows[1]?.labels[0]).toMatchObject({ label: "one", id: 1 });
  });

  test("gives a file's rows the same answers, packed or not, and - is standard input", async () => {
    const text = readFileSync(join(folder, "test.txt"), "utf8");
    writeFileSync(join(folder, "test.txt.gz"), gzipSync(text));
    const [plain, packed, piped, pipedPacked] = await Promise.all([
      command(["predict", model, "test.txt"]),
      command(["predict", "m", "test.txt.gz"]),
      command(["predict", model, "-"], text),
      command(["predict", model, "-"], gzipSync(text)),
    ]);
    expect(rowsOf(plain.stdout)).toHaveLength(40);
    expect(packed.stdout).toBe(plain.stdout);
    expect(piped.stdout).toBe(plain.stdout);
    expect(pipedPacked.stdout).toBe(plain.stdout);
  });

  test("scores of all labels add up to 1, and a threshold leaves out the low ones", async () => {
    const all = await command(["predict", model, "-k", "100"], "0:1\n");
    const [row] = rowsOf(all.stdout);
    const scores = row?.labels.map(({ score }) => score) ?? [];
    expect(scores).toHaveLength(3);
    expect(scores.reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 4);
    const high = await command(["predict", model, "--threshold", "0.5"], "0:1\n");
    expect(rowsOf(high.stdout)[0]?.labels.map(({ label }) => label)).toEqual(["zero"]);
  });

  test("answers a line before the next one is written", async () => {
    const running = start(["predict", model], { folder, input: null });
    let stdout = "";
    running.child.stdout?.on("data", (text: string) => (stdout += text));
    running.child.stdin?.write("0:1\n");
    await until(() => stdout.includes('"row":0'));
    running.child.stdin?.end("1:1\n");
    expect(rowsOf((await running.ended).stdout)).toHaveLength(2);
  });

  test("names line and column of what is wrong, after the answers before it", async () => {
    const { code, stdout, stderr } = await command(["predict", model], "0:1\n1:one\n");
    expect(code).toBe(3);
    expect(stderr).toMatch(/^error: standard input:2:\d+: .*\[BAD_NUMBER\]\n$/);
    expect(rowsOf(stdout)).toMatchObject([{ row: 0, line: 1 }]);
  });

  test("says what was dropped of wider rows", async () => {
    const { stdout, stderr } = await command(["predict", model, "--wider", "drop"], "0:1 16:1\n");
    expect(rowsOf(stdout)).toHaveLength(1);
    expect(stderr).toBe(
      "note: standard input: 1 value of features that the model does not have was left out.\n",
    );
  });

  test.skipIf(process.platform === "win32")("a signal ends it behind a whole line", async () => {
    writeFileSync(join(folder, "many.txt"), "0:1 1:1\n".repeat(100_000));
    const running = start(["predict", model, "many.txt", "--format", "xc-rows"], { folder });
    let isFirst = true;
    running.child.stdout?.on("data", () => {
      if (isFirst) running.child.kill("SIGINT");
      isFirst = false;
    });
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(rowsOf(stdout).length).toBeLessThan(100_000);
    expect(stdout).toMatch(/\n$/);
  });
});

describe("inspect", () => {
  test("a data file", async () => {
    const { stdout } = await command(["inspect", "test.txt", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "data",
      format: "xc",
      rows: 40,
      features: 16,
      rowsWithoutLabels: 4,
    });
    const words = await command(["inspect", "test.txt"]);
    expect(words.stdout).toMatch(/without labels +4 rows/);
  });

  test("a model", async () => {
    const { stdout } = await command(["inspect", model, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "model",
      shape: { features: 16, labels: 3 },
      labelNames: ["zero", "one", "two"],
    });
    expect(stdout).not.toContain(folder);
    expect((await command(["inspect", model])).stdout).toContain(
      "16 features → 128 relu → 3 labels",
    );
  });

  test("a run's folder", async () => {
    const { stdout } = await command(["inspect", "m", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "run", metrics: { reason: "epochs" } });
    expect((await command(["inspect", "m"])).stdout).toMatch(/batch +16/);
    expect((await command(["inspect", "."])).stderr).toMatch(/\[NOT_A_RUN\]/);
    const words = (await command(["inspect", "m"])).stdout;
    expect(words).toMatch(/^model +m.model\.safetensors$/m);
    expect(words).toMatch(/^trained on +2,400 rows$/m);
  });

  test("a run's folder that is damaged", async () => {
    const damaged = join(folder, "damaged");
    mkdirSync(damaged);
    writeFileSync(join(damaged, "config.json"), "{}");
    writeFileSync(join(damaged, "metrics.json"), "{}");
    const empty = await command(["inspect", "damaged"]);
    expect(empty.code).toBe(0);
    expect(empty.stdout).not.toMatch(/undefined|NaN/);
    for (const file of ["metrics.json", "config.json"]) {
      writeFileSync(join(damaged, file), "{");
      const { code, stderr } = await command(["inspect", "damaged"]);
      expect(code).toBe(3);
      expect(stderr).toMatch(`${file} is damaged: it holds no JSON object`);
    }
  });

  test("a model in lines for people, whose names command no terminal", async () => {
    const loaded = await loadModel(join(folder, model));
    const odd = join(folder, "odd.safetensors");
    await saveModel(odd, { ...loaded, labelNames: ["\u001b[2J", "b", "c"] });
    const { stdout } = await command(["inspect", "odd.safetensors"]);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/label names +\\u001b\[2J, b, c \(3\)/);
    expect(stdout).not.toMatch(/\{|indexBase/);
    expect(stdout).toMatch(/^ +batch +16$/m);
  });

  test.skipIf(process.platform === "win32")("a file that may not be read", async () => {
    writeFileSync(join(folder, "secret.txt"), "1 2:3\n", { mode: 0 });
    // The superuser may read everything but what cannot be read at all.
    const superuser = process.getuid?.() === 0;
    const { code, stderr } = await command([
      "inspect",
      superuser ? "/proc/self/mem" : "secret.txt",
    ]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/\[NOT_READABLE\]/);
  });
});

test("devices are measured, and what is missing is said", async () => {
  const { code, stdout } = await command(["devices", "--json"]);
  expect(code).toBe(0);
  interface Support {
    readonly available: boolean;
    readonly reason?: string;
    readonly remedy?: string;
  }
  const {
    devices,
    gpus,
    kernels: technologies,
  } = JSON.parse(stdout) as {
    kernels: Readonly<
      Record<"cuda" | "opencl", Support> & {
        native: Support & { readonly isas?: readonly string[] };
        gpujs: Readonly<Record<"devices" | "lacking", readonly { readonly mode: string }[]>>;
      }
    >;
    devices: readonly { kernels: string; rowsPerSecond: number }[];
    gpus: readonly (
      | { technology: "cuda" | "opencl"; memory: number; rowsPerSecond: number }
      | { technology: "gpujs"; mode: string; rowsPerSecond: number }
    )[];
  };
  expect(devices.length).toBeGreaterThan(0);
  for (const { kernels, rowsPerSecond } of devices) {
    expect(kernels).not.toBe("");
    expect(rowsPerSecond).toBeGreaterThan(0);
  }
  const { native, cuda, opencl } = technologies;
  expect(native.available ? native.isas : [native.reason]).not.toEqual([]);
  expect(devices[0]?.kernels).toMatch(native.available ? /^native-/ : /^wasm$/);
  for (const gpu of gpus) {
    expect(gpu.rowsPerSecond).toBeGreaterThan(0);
    if (gpu.technology === "gpujs") continue;
    expect(technologies[gpu.technology].available).toBe(true);
    expect(gpu.memory).toBeGreaterThan(0);
  }
  const { gpujs } = technologies;
  const modes = [...gpujs.devices, ...gpujs.lacking].map(({ mode }) => mode);
  expect(modes.toSorted()).toEqual(["cpu", "headlessgl", "webasm"]);
  expect(gpus.filter(({ technology }) => technology === "gpujs")).toHaveLength(
    gpujs.devices.length,
  );
  for (const { available, reason, remedy } of [cuda, opencl]) {
    expect(available || (reason !== "" && remedy !== "")).toBe(true);
  }
}, 120_000);

describe("config", () => {
  test("prints defaults that are a config file", async () => {
    const { stdout } = await command(["config", "--defaults"]);
    writeFileSync(join(folder, "defaults.json"), stdout);
    const args = ["train", "train.txt", "--config", "defaults.json", "--dry-run", "--json"];
    expect(JSON.parse((await command(args)).stdout)).toMatchObject({ config: { epochs: 10 } });
  });

  test("prints a JSON Schema of every key", async () => {
    const defaults = JSON.parse((await command(["config"])).stdout) as object;
    const { properties, additionalProperties } = JSON.parse(
      (await command(["config", "--schema"])).stdout,
    ) as { properties: object; additionalProperties: boolean };
    expect(additionalProperties).toBe(false);
    expect(Object.keys(properties)).toEqual(["$schema", ...Object.keys(defaults)]);
  });

  test("explains a key or a flag, and suggests what was meant", async () => {
    const { stdout } = await command(["config", "--explain", "--learning-rate"]);
    expect(stdout).toContain("HETEROSGD_LEARNING_RATE");
    expect((await command(["config", "--explain", "momentun"])).stderr).toContain('"momentum"');
  });
});
