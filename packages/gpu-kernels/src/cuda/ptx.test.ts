import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compilePtx, nvccVersion, ptxPath } from "../../scripts/build-ptx.mjs";
import { kernelNames } from "../../scripts/kernel-sources.mjs";
import { hasPtxas, kernelUse, targets } from "../../scripts/list-registers.mjs";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../package-root.js";

const committed = readFileSync(ptxPath, "utf8");
const compiler = nvccVersion();
const entriesOf = (ptx: string) =>
  Array.from(ptx.matchAll(/^\.visible \.entry (\w+)\(/gmu), ([, name]) => name!);

test("the committed PTX has all kernels, and no others", () => {
  const kernels = kernelNames(fileURLToPath(new URL("kernels", packageRoot)));
  expect(new Set(entriesOf(committed))).toEqual(new Set(kernels));
});

// Another nvcc may translate the same kernels otherwise.
test.skipIf(compiler === undefined || !committed.includes(`tools, ${compiler}`))(
  "the committed PTX is what node packages/gpu-kernels/scripts/build-ptx.mjs makes, where there is nvcc",
  () => {
    expect(compilePtx() === committed).toBe(true);
  },
);

describe.skipIf(!hasPtxas())("the committed PTX, where there is ptxas,", () => {
  test.each(targets)("is assembled for %s, and nothing is spilled there", (target) => {
    const uses = kernelUse(target);
    expect(uses.map(({ kernel }) => kernel)).toEqual(entriesOf(committed).toSorted());
    // Registers that are spilled to memory would cost more than the launch's shape gains.
    expect(uses.filter(({ spilled }) => spilled > 0)).toEqual([]);
    for (const { registers, shared } of uses) {
      // Groups are of 256 items: two and more are on a multiprocessor at once.
      expect(registers * 256).toBeLessThanOrEqual(2 ** 15);
      expect(shared).toBeLessThanOrEqual(2 ** 15);
    }
  });
});
