import { expect, it } from "vitest";
import { createWasmMemory } from "./memory.js";
import { instantiate } from "./module.js";
import { blockClasses, counterBytes, indicesAhead, packedLanes } from "./sizes.js";

it("work buffers are sized by the constants that the kernels were compiled with", () => {
  const compiled = instantiate(createWasmMemory()) as unknown as Readonly<
    Record<string, WebAssembly.Global> & { packedLanes: (lanes: number) => number }
  >;
  expect(compiled["blockClasses"]?.value).toBe(blockClasses);
  expect(compiled["counterBytes"]?.value).toBe(counterBytes);
  expect(compiled["bytesAhead"]?.value).toBe(4 * indicesAhead);
  for (const lanes of [0, 1, 4, 5, 8, 13]) {
    expect(compiled.packedLanes(lanes)).toBe(packedLanes(lanes));
  }
});
