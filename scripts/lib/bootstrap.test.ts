import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nativeNote, toolEnvironment } from "./bootstrap.mjs";

it("keeps a person's settings but not what npm sets for the script it runs", () => {
  const env = toolEnvironment({
    HOME: "here",
    npm_config_cache: "cache",
    npm_config_local_prefix: "elsewhere",
    npm_config_prefix: "elsewhere",
    npm_lifecycle_event: "test",
    npm_package_name: "other",
    NODE_ENV: "production",
  });
  expect(env).toMatchObject({ HOME: "here", npm_config_cache: "cache", CI: "true" });
  const dropped = Object.keys(env).filter((name) => /prefix|lifecycle|package|NODE_ENV/.test(name));
  expect(dropped).toEqual([]);
});

it("finds the pinned tools before any other", () => {
  expect(toolEnvironment({ PATH: "others" })["PATH"]).toMatch(/\.tools.+others$/);
});

it("says in one line why a build made no native addon", () => {
  const folder = mkdtempSync(join(tmpdir(), "build-notes-"));
  try {
    expect(nativeNote(folder)).toBe("");
    const path = join(folder, `${process.platform}-${process.arch}.reason.txt`);
    writeFileSync(path, "there is no C++ compiler\ninstall one\n");
    expect(nativeNote(folder)).toBe(
      "no native kernels, WebAssembly serves: there is no C++ compiler; install one\n",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
