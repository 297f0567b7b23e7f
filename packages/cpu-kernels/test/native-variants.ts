import type { NativeKernelsOptions, NativeSupport } from "../src/index.js";

interface Variant {
  readonly name: string;
  readonly options: NativeKernelsOptions;
}

/** Every way to create native kernels that makes them compute differently. */
export function variants(support: NativeSupport & { readonly available: true }): Variant[] {
  const sets = support.isas.map((isa) => ({ isa, bf16: false }));
  if (support.bf16) sets.push({ isa: "avx512", bf16: true });
  return sets.flatMap(({ isa, bf16 }) =>
    [1, 2, 3].flatMap((threads) =>
      [2 ** 30, 40_000, 0].map((keptBytes) => {
        const kept = keptBytes === 0 ? "nothing" : keptBytes === 2 ** 30 ? "all" : "some";
        return {
          name: `${isa}${bf16 ? " bf16" : ""}, ${threads} threads, ${kept} kept`,
          options: { isa, bf16, threads, keptBytes },
        };
      }),
    ),
  );
}
