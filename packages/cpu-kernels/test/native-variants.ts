import type { InstructionSet, NativeKernelsOptions, NativeSupport } from "../src/index.js";

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
export function variants(support: NativeSupport): readonly Variant[] {
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
