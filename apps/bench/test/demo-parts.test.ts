import { expect, test } from "vitest";
import { ticks } from "../demo/src/line-chart.js";
import { isSoftware } from "../demo/src/webgl.js";

test("a scale has a few round numbers from 0 on, up to what it must show", () => {
  expect(ticks(1)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(ticks(7.2)).toEqual([0, 2, 4, 6]);
  expect(ticks(500)).toEqual([0, 200, 400]);
  for (const most of [0.013, 0.3, 1, 10, 99, 12_345]) {
    const marks = ticks(most);
    expect(marks.length).toBeGreaterThanOrEqual(3);
    expect(marks.length).toBeLessThanOrEqual(6);
    expect(marks.at(-1)).toBeLessThanOrEqual(most * (1 + 1e-9));
  }
});

test.each([
  ["ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)", true],
  ["llvmpipe (LLVM 15.0.6, 256 bits)", true],
  ["ANGLE (Microsoft, Microsoft Basic Render Driver Direct3D11)", true],
  ["ANGLE (NVIDIA, NVIDIA GeForce RTX 3080 (0x2206), OpenGL 4.6)", false],
  ["Mesa Intel(R) UHD Graphics 620 (KBL GT2)", false],
])("whether software draws is told by the renderer's name: %s", (renderer, answer) => {
  expect(isSoftware(renderer)).toBe(answer);
});
