import { expect, test } from "vitest";
import { isasOf } from "./isas.js";

test("instruction sets are told by the processor's flags", () => {
  const info = (flags: string) => `processor : 0\nflags\t\t: ${flags}\nbugs : none\n`;
  expect(isasOf(info("fpu avx2 fma avx512f"))).toEqual(["avx512", "avx2", "portable"]);
  expect(isasOf(info("fpu avx2 fma"))).toEqual(["avx2", "portable"]);
  // Without the fused instruction it would not run.
  expect(isasOf(info("fpu avx2"))).toEqual(["portable"]);
  expect(isasOf("Features : neon")).toEqual(["portable"]);
});
