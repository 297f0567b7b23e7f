import type { ChosenKernels, KernelsDescription } from "@heterosgd/trainer";

/** What devices run on and, where that is not what it could be, why: `native (avx512)`. */
export function kernelsWords({ devices, nativeUnavailable }: ChosenKernels): string {
  const names = [...new Set(devices.map(nameOf))].join(", ");
  return nativeUnavailable === null
    ? names
    : `${names}; native kernels are not available: ${nativeUnavailable}`;
}

function nameOf(kernels: KernelsDescription): string {
  if (kernels.name === "gpujs") return `gpujs:${kernels.mode} (${kernels.device})`;
  if ("device" in kernels) return `${kernels.name} (${kernels.device})`;
  const { name, isa, bf16 } = kernels;
  const details = [...(isa === null ? [] : [isa]), ...(bf16 ? ["products in bfloat16"] : [])];
  return details.length === 0 ? name : `${name} (${details.join(", ")})`;
}
