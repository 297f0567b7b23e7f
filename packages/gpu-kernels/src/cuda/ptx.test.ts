import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compilePtx, nvccVersion, ptxPath } from "../../scripts/build-ptx.mjs";
import { kernelNames } from "../../scripts/kernel-sources.mjs";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../package-root.js";

const committed = readFileSync(ptxPath, "utf8");
const compiler = nvccVersion();
const hasPtxas = spawnSync("ptxas", ["--version"]).status === 0;

test("the committed PTX has all kernels, and no others", () => {
  const kernels = kernelNames(fileURLToPath(new URL("kernels", packageRoot)));
  const entries = [...committed.matchAll(/^\.visible \.entry (\w+)\(/gmu)].map(([, name]) => name!);
  expect(new Set(entries)).toEqual(new Set(kernels));
});

// Another nvcc may translate the same kernels otherwise.
test.skipIf(compiler === undefined || !committed.includes(`tools, ${compiler}`))(
  "the committed PTX is what node packages/gpu-kernels/scripts/build-ptx.mjs makes, where there is nvcc",
  () => {
    expect(compilePtx() === committed).toBe(true);
  },
);

describe.skipIf(!hasPtxas)("the committed PTX, where there is ptxas,", () => {
  test.each(["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"])("is assembled for %s", (target) => {
    const args = ["-v", `-arch=${target}`, ptxPath, "-o", "/dev/null"];
    const { status, stderr } = spawnSync("ptxas", args, { encoding: "utf8" });
    expect({ status, errors: stderr.match(/error.*/gu) }).toEqual({ status: 0, errors: null });
    // Registers that are spilled to memory would cost more than the launch's shape gains.
    const spills = [...stderr.matchAll(/(\d+) bytes spill stores/gu)].map(([, bytes]) => bytes);
    expect(new Set(spills)).toEqual(new Set(["0"]));
  });
});
