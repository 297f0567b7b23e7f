/** The addon's build, and what it says where there is no addon to be had. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { addonInterface } from "../src/native/addon-file.js";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Node stands for a compiler: it knows `--version` as well, and fails at all else. */
const node = process.execPath;
/** Where the build may leave no addon. */
const copy = mkdtempSync(join(tmpdir(), "native-build-"));
for (const part of ["scripts", "native"]) {
  cpSync(join(root, part), join(copy, part), { recursive: true });
}
cpSync(join(root, "node_modules"), join(copy, "node_modules"), { recursive: true });
afterAll(() => {
  rmSync(copy, { recursive: true });
});

function build(variables: Readonly<Record<string, string>>) {
  const env = { ...process.env, HETEROSGD_NATIVE: "", ...variables };
  const script = join(copy, "scripts/build-native.mjs");
  const { status, stderr } = spawnSync(node, [script], { env, encoding: "utf8" });
  return { status, stderr };
}

const reason = () =>
  readFileSync(join(copy, "prebuilds", `${process.platform}-${process.arch}.reason.txt`), "utf8");

describe.skipIf(process.platform === "win32")("without a compiler", () => {
  const lack = "the compiler that CXX names, no-such-compiler -O2, can't be run";
  const remedy = "install g++ or clang++, or name one by CXX, and run `npm run build`";

  test("WebAssembly serves, and the reason is kept", () => {
    expect(build({ CXX: "no-such-compiler -O2" })).toEqual({
      status: 0,
      stderr: `cpu-kernels: no native addon, WebAssembly serves: ${lack}; ${remedy}\n`,
    });
    expect(reason()).toBe(`${lack}\n${remedy}\n`);
  });

  test("a required addon fails the build", () => {
    expect(build({ CXX: "no-such-compiler -O2", HETEROSGD_NATIVE: "require" })).toEqual({
      status: 1,
      stderr: `cpu-kernels: the native addon was required (HETEROSGD_NATIVE=require): ${lack}; ${remedy}\n`,
    });
  });
});

test.skipIf(process.platform === "win32")("CXX may hold more than a program, as for make", () => {
  const command = `env  ${node} --no-warnings`;
  // It is found, and fails at C++.
  expect(build({ CXX: command }).status).toBe(0);
  expect(reason()).toContain(`${command} failed: `);
  expect(reason()).toContain("CXX names another compiler");
});

test("an addon that is not to be built has that as its reason", () => {
  expect(build({ HETEROSGD_NATIVE: "skip" }).status).toBe(0);
  expect(reason()).toBe(
    "it was not to be built (HETEROSGD_NATIVE=skip)\n`npm run build` without this variable makes it\n",
  );
});

test("an unknown HETEROSGD_NATIVE is refused, with those there are", () => {
  expect(build({ HETEROSGD_NATIVE: "yes" })).toEqual({
    status: 1,
    stderr: 'cpu-kernels: HETEROSGD_NATIVE is "yes", expected "skip", "require" or nothing\n',
  });
});

test("both sides of the boundary name the same interface", () => {
  const header = readFileSync(join(root, "native/boundary/operations.h"), "utf8");
  expect(header).toContain(`kInterface = ${addonInterface};`);
});
