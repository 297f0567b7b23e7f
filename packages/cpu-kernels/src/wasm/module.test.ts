import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packageRoot } from "../package-root.js";
import { loadModuleOf, wasmSupport } from "./module.js";

const whole = readFileSync(new URL("wasm/kernels.wasm", packageRoot));

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "module-"));
  mkdirSync(join(folder, "wasm"));
  path = join(folder, "wasm", "kernels.wasm");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function lackOf(bytes: Uint8Array | null): string {
  if (bytes !== null) writeFileSync(path, bytes);
  const loaded = loadModuleOf(folder);
  return loaded.ok ? "it was loaded" : `${loaded.reason}; ${loaded.remedy}`;
}

test("the module that the build made serves", () => {
  expect(wasmSupport()).toEqual({ available: true });
  expect(lackOf(whole)).toBe("it was loaded");
});

test("a module that is missing, empty or truncated is a reason, with what helps", () => {
  expect(lackOf(null)).toMatch(/kernels\.wasm can't be read: ENOENT.+; reinstall the package$/u);
  expect(lackOf(new Uint8Array())).toMatch(/\(0 bytes\) is damaged: .+; reinstall the package$/u);
  expect(lackOf(whole.subarray(0, 9000))).toMatch(/\(9000 bytes\) is damaged: /u);
  mkdirSync(join(folder, "native"));
  writeFileSync(join(folder, "native", "addon.cc"), "");
  expect(lackOf(new Uint8Array())).toMatch(/; `npm run build` makes it again$/u);
});

test("another module is a reason", () => {
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  expect(lackOf(empty)).toBe(`${path} is not this package's module; reinstall the package`);
  // One exported global of type i32 that holds 9.
  const older = Buffer.concat([
    empty,
    Uint8Array.of(6, 6, 1, 0x7f, 0, 0x41, 9, 0x0b),
    Uint8Array.of(7, 20, 1, 16),
    Buffer.from("interfaceVersion"),
    Uint8Array.of(3, 0),
  ]);
  expect(lackOf(older)).toContain("has interface 9, expected 1: it is of another version");
});
