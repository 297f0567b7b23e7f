import type { GpuArgument, GpuDriver, GpuKernel, GpuPointer } from "../driver.js";
import type { Koffi } from "../koffi.js";
import type { StatusCheck } from "./failures.js";
import type { Address, CudaFunctions, Handle } from "./library.js";

interface Kernel extends GpuKernel {
  readonly handle: Handle;
}

/** More than any kernel has; a pointer takes two. */
const mostParameters = 64;

/**
 * Kernels of a module, and their launches. The driver copies the parameters during the call, so that one
 * block of native memory serves all: a slot of 8 bytes for each, then as many addresses of slots.
 */
export function createLauncher(
  cuda: CudaFunctions,
  koffi: Koffi,
  { module, stream, check }: { module: Handle; stream: Handle; check: StatusCheck },
) {
  const kernels = new Map<string, Kernel>();
  const block = BigInt(koffi.alloc("uint64_t", 2 * mostParameters) as number | bigint);
  const memory = koffi.view(block, 16 * mostParameters);
  const wide = new BigUint64Array(memory);
  const words = new Uint32Array(memory);
  const floats = new Float32Array(memory);
  for (let i = 0; i < mostParameters; i++) {
    wide[mostParameters + i] = block + BigInt(8 * i);
  }
  const addresses = block + BigInt(8 * mostParameters);

  /** @returns the slot behind. */
  function set(
    slot: number,
    argument: GpuArgument,
    addressOf: (pointer: GpuPointer) => Address,
  ): number {
    switch (argument.kind) {
      case "pointer":
        wide[slot] = addressOf(argument.value);
        wide[slot + 1] = BigInt(argument.value.offset);
        return slot + 2;
      case "u32":
        words[2 * slot] = argument.value;
        return slot + 1;
      case "f32":
        floats[2 * slot] = argument.value;
        return slot + 1;
    }
  }

  return {
    kernel(name: string): GpuKernel {
      const known = kernels.get(name);
      if (known !== undefined) return known;
      const handle = new BigUint64Array(1);
      check(`cuModuleGetFunction of ${name}`, cuda.moduleFunction(handle, module, name));
      const made: Kernel = { name, handle: handle[0]! };
      kernels.set(name, made);
      return made;
    },

    launch(
      kernel: GpuKernel,
      [x, y = 1]: Parameters<GpuDriver["launch"]>[1],
      [width, height = 1]: Parameters<GpuDriver["launch"]>[2],
      values: readonly GpuArgument[],
      addressOf: (pointer: GpuPointer) => Address,
    ): void {
      // Its pointers may take two slots each: what does not fit would be written over the addresses.
      if (2 * values.length > mostParameters) {
        throw new RangeError(`${kernel.name}: ${values.length} arguments`);
      }
      let slot = 0;
      for (const value of values) slot = set(slot, value, addressOf);
      const { name, handle } = kernel as Kernel;
      check(
        `cuLaunchKernel of ${name}`,
        cuda.launch(handle, x, y, 1, width, height, 1, 0, stream, addresses, null),
      );
    },

    close: () => koffi.free(block),
  };
}
