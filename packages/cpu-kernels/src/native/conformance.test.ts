import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, test } from "vitest";
import { createNativeKernels } from "./native-kernels.js";
import { nativeSupport, type InstructionSet, type NativeKernelsOptions } from "./native-support.js";

const support = nativeSupport();

interface Variant {
  readonly name: string;
  readonly options: NativeKernelsOptions;
}

/** Threads, and bytes that may be kept: all exponentials, those of some blocks, none. */
const divisions = [
  { threads: 1, keptBytes: 2 ** 30 },
  { threads: 1, keptBytes: 0 },
  { threads: 2, keptBytes: 40_000 },
  { threads: 3, keptBytes: 2 ** 30 },
  { threads: 3, keptBytes: 0 },
] as const;

/** The ways to create native kernels that make them compute differently. */
function variants(): readonly Variant[] {
  if (!support.available) return [];
  const sets: { readonly isa: InstructionSet; readonly bf16: boolean }[] = support.isas.map(
    (isa) => ({ isa, bf16: false }),
  );
  if (support.bf16) sets.push({ isa: "avx512", bf16: true });
  return sets.flatMap(({ isa, bf16 }) =>
    divisions.map(({ threads, keptBytes }) => ({
      name: `${isa}${bf16 ? " in bfloat16" : ""}, threads: ${threads}, bytes kept: ${keptBytes}`,
      options: { isa, bf16, threads, keptBytes },
    })),
  );
}

/** A logit of hundreds is off by about 1 in bfloat16, and its probability by a factor. */
const losesToRounding = /^large logits/;

// A skipped test where there is no addon: the run says so, and fails if everything is required.
test.skipIf(!support.available)("the addon serves this processor", () => {
  expect(support).toMatchObject({ isas: expect.arrayContaining(["portable"]) });
});

describe.each(variants())("native kernels: $name", ({ options }) => {
  const inBfloat16 = options.bf16 === true;
  const cases = kernelsConformance(() => createNativeKernels(options), {
    // Numbers in bfloat16 have 8 bits, and fresh Adagrad makes much of a small gradient's error.
    tolerance: inBfloat16 ? 8e-2 : 1e-4,
    roundoff: inBfloat16 ? 2 ** -8 : 2 ** -24,
    microBatchesInOrder: options.threads === 1,
  }).filter(({ name }) => !inBfloat16 || !losesToRounding.test(name));

  test.each(cases)("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
