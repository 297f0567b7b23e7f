/** `bench gpu` as it was built, on small sizes: on the stand-in for CUDA's driver, which fails when it is told to. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { cudaStandIn, skipped } from "../../../test-support/gpu-drivers.js";

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
if (!existsSync(program)) {
  throw new Error("apps/bench/dist/main.js is missing: build first (npm test does)");
}
const LONG = 300_000;

interface Document {
  readonly passed: boolean;
  readonly failures: readonly string[];
  readonly devices: readonly {
    readonly spec: string;
    readonly driver: string;
    readonly peaks: unknown;
  }[];
  readonly steps: readonly {
    readonly results: readonly { readonly name: string; readonly steps: readonly unknown[] }[];
  }[];
  readonly kernels: Readonly<
    Record<
      string,
      readonly {
        readonly agreesWith: readonly string[];
        readonly operations: readonly {
          readonly name: string;
          readonly device: readonly number[];
        }[];
      }[]
    >
  >;
  readonly soak: Readonly<
    Record<string, { readonly taken: { readonly verdict: string }; readonly leftBehind: number }>
  >;
}

function bench(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "gpu", ...args], {
    env: { ...process.env, NO_COLOR: "1", ...environment },
    encoding: "utf8",
  });
  return { status, stdout, stderr, lastLine: (text: string) => text.trimEnd().split("\n").at(-1) };
}

describe.skipIf(skipped.cuda !== "")(`bench gpu${skipped.cuda}`, { timeout: LONG }, () => {
  const library = ["--library", cudaStandIn?.library ?? "", "--devices", "cuda"];
  const small = [
    "--labels",
    "40",
    "--rows",
    "4",
    "--features",
    "300",
    "--rounds",
    "2",
    "--steps",
    "200",
  ];

  test("measures steps, kernels and memory, and says that it was on software", () => {
    const only = ["--only", "steps,kernels,soak", "--json"];
    const { status, stdout, stderr, lastLine } = bench([...library, ...small, ...only]);
    expect(status, stderr).toBe(0);
    expect(lastLine(stderr)).toMatch(/^passed in \d+ s, on software alone: /u);
    const document = JSON.parse(stdout) as Document;
    expect(document).toMatchObject({
      passed: true,
      failures: [],
      devices: [{ spec: "cuda:0", driver: "emulated", peaks: null }],
    });
    expect(document.steps).toHaveLength(1);
    for (const { results } of document.steps) {
      expect(results.map(({ name }) => name)).toContain("cuda:0");
      for (const { steps } of results) expect(steps).toHaveLength(2);
    }
    const kernels = document.kernels["cuda:0"]!;
    expect(kernels).toHaveLength(1);
    for (const { agreesWith, operations } of kernels) {
      expect(agreesWith).toContain("plain");
      expect(operations.map(({ name }) => name)).toContain("output layer, Adam");
      for (const { device } of operations) {
        expect(device).toHaveLength(2);
        for (const milliseconds of device) expect(milliseconds).toBeGreaterThan(0);
      }
    }
    expect(document.soak["cuda:0"]).toMatchObject({ taken: { verdict: "flat" }, leftBehind: 0 });
  });

  test("fails where a kernel does, with the driver's own name for why, and goes on with the rest", () => {
    const failing = { CUDA_STAND_IN_FAIL: "cuLaunchKernel@20=700" };
    const args = [...library, ...small, "--only", "steps,soak"];
    const { status, stdout, stderr, lastLine } = bench(args, failing);
    expect(status, stderr).toBe(1);
    expect(lastLine(stdout)).toMatch(
      /^failed: steps: cuda:0, 40 labels: GpuKernelsError: .*CUDA_ERROR_ILLEGAL_ADDRESS.* \| soak of cuda:0: .*CUDA_ERROR_ILLEGAL_ADDRESS/u,
    );
  });

  test("ends what takes too long, which is a failure", () => {
    const long = ["--only", "soak,mixed", "--steps", "1000000", "--minutes", "0.4"];
    const began = performance.now();
    const { status, stdout, stderr, lastLine } = bench([...library, ...long]);
    expect(status, stderr).toBe(1);
    expect(lastLine(stdout)).toBe(
      "failed: soak of cuda:0: not done within 0.4 minutes | mixed: not begun within 0.4 minutes",
    );
    expect(performance.now() - began).toBeLessThan(60_000);
  });

  test("without a device fails and says why there is none", () => {
    const none = { CUDA_STAND_IN_DEVICES: "0", HETEROSGD_OPENCL_LIBRARY: "/no-opencl.so" };
    const { status, stdout, stderr, lastLine } = bench(library.slice(0, 2), none);
    expect(status, stderr).toBe(1);
    expect(stdout).toMatch(/^no cuda: CUDA's driver finds no GPU/mu);
    expect(stdout).toMatch(/^no opencl: .*no-opencl\.so can't be loaded/mu);
    expect(lastLine(stdout)).toBe("failed: there is no device");
  });

  test("refuses what it can't make sense of", () => {
    const unknown = bench([...library, "--only", "speed"]);
    expect(unknown.status).not.toBe(0);
    expect(unknown.stderr).toContain(
      'there is no part "speed"; there are conformance, steps, kernels, soak, mixed',
    );
    expect(bench([...library.slice(0, 2), "--devices", "cpu"]).stderr).toContain(
      "cpu is no device of a GPU's driver",
    );
    expect(bench([...library, "--rows", "0"]).stderr).toContain("whole numbers from 1 on");
  });
});

test.runIf(process.platform === "linux")(
  "what is packed runs where nothing is installed",
  { timeout: LONG },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "bench-gpu-"));
    try {
      const packed = bench(["--pack", join(folder, "gpu.tgz")]);
      expect(packed.status, packed.stderr).toBe(0);
      expect(packed.stdout).toMatch(/gpu\.tgz has this build and \d+ packages\n$/u);
      execFileSync("tar", ["-xzf", join(folder, "gpu.tgz"), "-C", folder]);
      const run = (path: string, ...args: readonly string[]) =>
        spawnSync(process.execPath, [join(folder, "heterosgd-gpu", path), ...args], {
          encoding: "utf8",
        });
      const devices = ["--devices", "cuda"];
      const measured = run("apps/bench/dist/main.js", "gpu", ...devices, "--library", "/no.so");
      // koffi was found, or that would be the reason.
      expect(measured.stderr).toContain("/no.so can't be loaded");
      const command = run("packages/cli/dist/main.js", "train", "--sample", "--dry-run");
      expect(command.status, command.stderr).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
