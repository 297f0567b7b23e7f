import type { GpuArgument, GpuDriver, GpuKernel, GpuPointer } from "../driver.js";
import type { StatusCheck } from "./failures.js";
import type { Handle, OpenClFunctions } from "./library.js";

interface Kernel extends GpuKernel {
  readonly handle: Handle;
}

/** Compiled kernels, and their launches. */
export function createLauncher(cl: OpenClFunctions, queue: Handle, check: StatusCheck) {
  const kernels = new Map<string, Kernel>();
  const handle64 = new BigUint64Array(1);
  const word = new Uint32Array(1);
  const float = new Float32Array(1);
  const items = new BigUint64Array(2);
  const group = new BigUint64Array(2);

  /** @returns how many of OpenCL's own arguments it took. */
  function set(
    kernel: Handle,
    index: number,
    argument: GpuArgument,
    handleOf: (pointer: GpuPointer) => Handle,
  ): number {
    switch (argument.kind) {
      case "pointer":
        handle64[0] = handleOf(argument.value);
        check("clSetKernelArg", cl.setArgument(kernel, index, 8, handle64));
        handle64[0] = BigInt(argument.value.offset);
        check("clSetKernelArg", cl.setArgument(kernel, index + 1, 8, handle64));
        return 2;
      case "u32":
        word[0] = argument.value;
        check("clSetKernelArg", cl.setArgument(kernel, index, 4, word));
        return 1;
      case "f32":
        float[0] = argument.value;
        check("clSetKernelArg", cl.setArgument(kernel, index, 4, float));
        return 1;
    }
  }

  return {
    kernel(program: Handle, name: string): GpuKernel {
      const known = kernels.get(name);
      if (known !== undefined) return known;
      const status = new Int32Array(1);
      const handle = cl.createKernel(program, name, new Uint32Array(status.buffer));
      check(`clCreateKernel of ${name}`, status[0]!);
      const made: Kernel = { name, handle };
      kernels.set(name, made);
      return made;
    },

    launch(
      kernel: GpuKernel,
      [x, y = 1]: Parameters<GpuDriver["launch"]>[1],
      [width, height = 1]: Parameters<GpuDriver["launch"]>[2],
      values: readonly GpuArgument[],
      handleOf: (pointer: GpuPointer) => Handle,
    ): void {
      const { name, handle } = kernel as Kernel;
      let index = 0;
      for (const value of values) index += set(handle, index, value, handleOf);
      items[0] = BigInt(x * width);
      items[1] = BigInt(y * height);
      group[0] = BigInt(width);
      group[1] = BigInt(height);
      check(
        `clEnqueueNDRangeKernel of ${name}`,
        cl.enqueueKernel(queue, handle, 2, null, items, group, 0, null, null),
      );
    },

    close(): void {
      for (const { handle } of kernels.values()) cl.releaseKernel(handle);
      kernels.clear();
    },
  };
}
