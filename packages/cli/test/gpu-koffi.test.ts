/** The command as it is installed where npm left the optional package koffi out. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "./command.js";

const ours = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const modules = join(temporaryFolder(), "node_modules");
const installed = join(modules, "heterosgd");

beforeAll(() => {
  cpSync(ours("dist"), join(installed, "dist"), { recursive: true });
  cpSync(ours("package.json"), join(installed, "package.json"));
  for (const name of ["data", "kernels", "prebuilds", "wasm"]) {
    if (existsSync(ours(name))) symlinkSync(ours(name), join(installed, name));
  }
  const { dependencies } = JSON.parse(readFileSync(ours("package.json"), "utf8")) as {
    dependencies: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(dependencies)) {
    const place = join(modules, name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(ours(`node_modules/${name}`), place);
  }
});

test.each(["cuda", "opencl"])(
  "a device of %s is refused with what is missing and the command that installs it",
  (device) => {
    const args = ["train", "--sample", "--devices", device, "--dry-run"];
    const ended = spawnSync(process.execPath, [join(installed, "dist", "main.js"), ...args], {
      encoding: "utf8",
      // pnpm's way to run vitest names a folder with all packages there.
      env: { ...process.env, NODE_PATH: "" },
    });
    expect({ status: ended.status, stderr: ended.stderr }).toEqual({
      status: 4,
      stderr: expect.stringMatching(
        /"(?:cuda|opencl)" can't be had: the package koffi, which calls GPU drivers, is not installed; install it: `npm install koffi@[\d.]+`/u,
      ),
    });
  },
);
