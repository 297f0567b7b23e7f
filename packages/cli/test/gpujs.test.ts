/** The command on gpu.js: what it lists, what it refuses and says of it, and runs on it. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { withoutGpujs } from "../../../test-support/gpujs.js";
import { run, start, temporaryFolder, until, writeEasyData, type Ended } from "./command.js";
import { eventsOf, faultsIn } from "./run-events.js";

const folder = temporaryFolder();
const path = (...names: string[]) => join(folder, ...names);
/** No other driver's devices, so that nothing depends on the machine. */
const quiet = {
  HETEROSGD_CUDA_LIBRARY: path("no-cuda.so"),
  HETEROSGD_OPENCL_LIBRARY: path("no-opencl.so"),
};
const command = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  run(args, { folder, environment: { ...quiet, ...environment } });
const training = ["train", "train.txt", "--test", "test.txt", "--hidden", "8", "-b", "8"];
const withoutGl = withoutGpujs("headlessgl");

// Shaders are compiled for each run, and software draws.
vi.setConfig({ testTimeout: 240_000 });

beforeAll(() => {
  writeEasyData(folder);
});

interface Document {
  readonly gpus: readonly {
    readonly technology: string;
    readonly mode: string;
    readonly name: string;
    readonly kind: string;
    readonly rowsPerSecond: number | null;
  }[];
  readonly kernels: {
    readonly gpujs: {
      readonly devices: readonly { readonly mode: string }[];
      readonly lacking: readonly { readonly mode: string; readonly reason: string }[];
    };
  };
}

describe.skipIf(withoutGl !== "")(`on headless-gl${withoutGl}`, () => {
  test("devices lists each mode with what draws, and how fast it is", async () => {
    const { code, stdout, stderr } = await command(["devices"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(
      /^gpujs:headlessgl +\S.* +(gpu|cpu) +gpujs-headlessgl +not told +[\d,]+$/m,
    );
    expect(stdout).toMatch(/^gpujs:webasm +WebAssembly +cpu +gpujs-webasm +not told +[\d,]+$/m);
    expect(stdout).toMatch(/^gpujs:cpu +JavaScript +cpu +gpujs-cpu +not told +[\d,]+$/m);
    expect(stdout).toMatch(
      /^gpujs:headlessgl +available(, drawn by software: no GPU is at work)?$/m,
    );
    expect(stdout).toMatch(/^gpujs:webasm +available, on the processor$/m);
  });

  test("a run names what ran and what drew, in its plan, its rows and its record", async () => {
    const args = [...training, "--epochs", "2", "--devices", "gpujs,cpu@0.05", "--out", "drawn"];
    const plan = await command([...args, "--dry-run"]);
    expect(plan.code, plan.stderr).toBe(0);
    expect(plan.stdout).toMatch(/^devices +gpujs:headlessgl,cpu@0\.05$/m);
    expect(plan.stdout).toMatch(/^kernels +gpujs:headlessgl \(\S.+\), native/m);
    expect(plan.stdout).toMatch(
      /^memory of gpujs:headlessgl +[\d.]+ [KM]iB, counted above: WebGL/m,
    );
    expect(existsSync(path("drawn"))).toBe(false);

    const { code, stdout, stderr } = await command(args);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^device 0 \(gpujs:headlessgl\) +gpujs-headlessgl +/m);
    const events = eventsOf(path("drawn"));
    expect(faultsIn(events, 240, 2)).toEqual([]);
    const [drawn] = (events[0] as unknown as { devices: readonly unknown[] }).devices;
    expect(drawn).toMatchObject({
      name: "device 0 (gpujs:headlessgl)",
      kernels: "gpujs-headlessgl",
      runs: { name: "gpujs", mode: "headlessgl", isolation: "thread", device: /./ },
    });
  });

  test.each([
    ["", "there is no display, which headless-gl needs; run the command by `xvfb-run -a`"],
    [":4711", "from display :4711; check that there is such a display"],
  ])("without a display (%j) it is refused, with what would mend it", async (DISPLAY, why) => {
    for (const require of [[], ["--require"]]) {
      const args = [...training, "--devices", "cpu,gpujs", "--out", "refused", ...require];
      const { code, stderr } = await command(args, { DISPLAY });
      expect(code).toBe(4);
      expect(stderr).toContain(`"gpujs:headlessgl" can't be had: `);
      expect(stderr).toContain(why);
      expect(stderr).toContain("or name what there is: gpujs:webasm (WebAssembly) or gpujs:cpu");
      expect(stderr).toContain("[KERNELS_UNAVAILABLE]");
      expect(existsSync(path("refused"))).toBe(false);
    }
  });

  test("without a display the other modes are listed, and the lack with its reason", async () => {
    const { code, stdout } = await command(["devices", "--json"], { DISPLAY: "" });
    expect(code).toBe(0);
    const { gpus, kernels } = JSON.parse(stdout) as Document;
    expect(gpus.map(({ technology, mode, kind }) => [technology, mode, kind])).toEqual([
      ["gpujs", "webasm", "cpu"],
      ["gpujs", "cpu", "cpu"],
    ]);
    for (const { rowsPerSecond } of gpus) expect(rowsPerSecond).toBeGreaterThan(0);
    expect(kernels.gpujs.lacking).toMatchObject([
      { mode: "headlessgl", reason: /no display/, remedy: /xvfb-run -a/ },
    ]);
  });
});

test("auto takes no gpu.js where no GPU draws", async () => {
  const { code, stdout } = await command([...training, "--dry-run", "--json"]);
  expect(code).toBe(0);
  expect(stdout).not.toContain("gpujs:");
});

test("a run of gpu.js on the processor is named so, and takes one more in a process of its own", async () => {
  const endless = ["--epochs", "1000000", "--max-time", "5m", "--out", "more"];
  const running = start([...training, "--devices", "cpu@0.05,gpujs:cpu", ...endless], {
    folder,
    environment: quiet,
  });
  const hasBegun = () =>
    existsSync(path("more", "events.jsonl")) &&
    readFileSync(path("more", "events.jsonl"), "utf8").includes('"done"');
  await until(hasBegun);
  const added = await command(["devices", "add", "more", "gpujs:webasm:process", "--json"]);
  expect(added.code, added.stderr).toBe(0);
  expect(JSON.parse(added.stdout)).toMatchObject({
    joined: [{ device: 2, spec: "gpujs:webasm:process" }],
    failed: [],
  });
  running.child.kill("SIGTERM");
  const { code, stdout, stderr } = await running.ended;
  expect(code, stderr).toBe(143);
  expect(stdout).toMatch(/^device 1 \(gpujs:cpu\) +gpujs-cpu +/m);
  expect(stdout).toMatch(/^device 2 \(gpujs:webasm:process\) +gpujs-webasm +/m);
});

/** Runs a copy of the command that has what it depends on, and neither gpu.js nor gl. */
function runWithout(name: string, args: readonly string[]): Pick<Ended, "code" | "stderr"> {
  const own = fileURLToPath(new URL("..", import.meta.url));
  const copy = path(name);
  for (const part of ["dist", "wasm", "prebuilds", "kernels", "package.json"]) {
    if (existsSync(join(own, part))) cpSync(join(own, part), join(copy, part), { recursive: true });
  }
  const modules = join(own, "node_modules");
  mkdirSync(join(copy, "node_modules"));
  for (const entry of readdirSync(modules)) {
    if (entry === "gpu.js" || entry === "gl" || entry.startsWith(".")) continue;
    symlinkSync(join(modules, entry), join(copy, "node_modules", entry), "junction");
  }
  writeFileSync(join(copy, "train.txt"), readFileSync(path("train.txt")));
  const { status, stderr } = spawnSync(process.execPath, [join(copy, "dist", "main.js"), ...args], {
    cwd: copy,
    env: { ...process.env, ...quiet, NO_COLOR: "1" },
    encoding: "utf8",
  });
  return { code: status, stderr };
}

test("where gpu.js is not installed it is refused, with the command that installs it", () => {
  const args = ["train", "train.txt", "--devices", "gpujs:cpu", "--dry-run"];
  const { code, stderr } = runWithout("bare", args);
  expect(code, stderr).toBe(4);
  expect(stderr).toMatch(
    /"gpujs:cpu" can't be had: the package gpu\.js is not installed; install it: `npm install gpu\.js@/,
  );
});
