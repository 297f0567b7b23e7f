/** The command where what its kernels load is damaged or missing, as after a copy that broke off. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

// Each measures all devices: seconds, and more on a machine that is busy otherwise.
vi.setConfig({ testTimeout: 120_000 });

const own = fileURLToPath(new URL("..", import.meta.url));
const system = join("prebuilds", `${process.platform}-${process.arch}`);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "missing-kernels-"));
  for (const part of ["dist", "wasm", "prebuilds", "package.json"]) {
    cpSync(join(own, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(own, "node_modules"), join(folder, "node_modules"), "junction");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const devices = () => run("devices");

function run(...parameters: readonly string[]) {
  const program = join(folder, "dist", "main.js");
  const env = { ...process.env, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...parameters], {
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe.skipIf(!existsSync(join(own, system)))("with an addon", () => {
  test("that is truncated, WebAssembly serves and the reason is said", () => {
    const name = readdirSync(join(folder, system)).find((file) => file.endsWith(".node"))!;
    truncateSync(join(folder, system, name), 300_000);
    const { status, stdout, stderr } = devices();
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(
      /native kernels +not available: .+ is damaged: 300000 bytes, \d+ expected; reinstall the package\n/u,
    );
    expect(stdout).toMatch(/wasm kernels +available\n/u);
  });

  test("and a broken WebAssembly module, native kernels serve and the module is not called available", () => {
    writeFileSync(join(folder, "wasm/kernels.wasm"), "");
    const { status, stdout, stderr } = devices();
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(
      /wasm kernels +not available: .+ is damaged: .+; reinstall the package\n/u,
    );
  });
});

test("native kernels asked for by name and not there are refused, with the reason", () => {
  rmSync(join(folder, "prebuilds"), { recursive: true, force: true });
  cpSync(join(own, "data"), join(folder, "data"), { recursive: true });
  const { status, stderr } = run("train", "--sample", "--kernels", "native", "--dry-run");
  expect(status, stderr).toBe(4);
  expect(stderr).toMatch(/has no addon for .+ \[KERNELS_UNAVAILABLE\]/u);
});

test("--require takes nothing in the place of native kernels, and says why they are not there", () => {
  rmSync(join(folder, "prebuilds"), { recursive: true, force: true });
  cpSync(join(own, "data"), join(folder, "data"), { recursive: true });
  const plan = ["train", "--sample", "--devices", "cpu", "--dry-run"];
  const { status, stderr } = run(...plan, "--require");
  expect(status, stderr).toBe(4);
  expect(stderr).toMatch(/has no addon for .+ \[KERNELS_UNAVAILABLE\]/u);
  const served = run(...plan);
  expect(served.status, served.stderr).toBe(0);
  expect(served.stdout).toMatch(/^kernels +wasm\b/mu);
});

test("without either there is one error, with the exit code of a missing device", () => {
  rmSync(join(folder, "prebuilds"), { recursive: true, force: true });
  rmSync(join(folder, "wasm"), { recursive: true });
  const { status, stderr } = devices();
  expect(status, stderr).toBe(4);
  expect(stderr).toMatch(
    /the wasm kernels can't be had: .+ can't be read: .+; reinstall the package.* \[KERNELS_UNAVAILABLE\]/u,
  );
});
