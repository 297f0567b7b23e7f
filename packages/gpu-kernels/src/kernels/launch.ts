/** Launches by name, over as many items as there are. */
import type { GpuArgument, GpuDriver, GpuKernel, GpuPointer } from "../driver.js";
import { ceilDivide } from "./sizes.js";

export const pointer = (value: GpuPointer): GpuArgument => ({ kind: "pointer", value });
export const u32 = (value: number): GpuArgument => ({ kind: "u32", value });
export const f32 = (value: number): GpuArgument => ({ kind: "f32", value });

/** `elements` further on. */
export const beyond = ({ buffer, offset }: GpuPointer, elements: number): GpuPointer => ({
  buffer,
  offset: offset + elements,
});

/** Items of a group in one dimension (`GROUP_ITEMS` in `reduce.cu`). */
const groupItems = 256;
const sparseGroupItems = 128;

export interface Launcher {
  /** An item an element. */
  readonly overElements: (name: string, count: number, values: readonly GpuArgument[]) => void;
  /** A group a row and slice of it. */
  readonly overRows: (
    name: string,
    rows: number,
    slices: number,
    values: readonly GpuArgument[],
  ) => void;
  /** An item a unit of each of `count` rows or features. */
  readonly overUnits: (
    name: string,
    count: number,
    units: number,
    values: readonly GpuArgument[],
  ) => void;
  /** Groups of this size. */
  readonly overGroups: (
    name: string,
    groups: readonly [number, number?],
    groupSize: readonly [number, number?],
    values: readonly GpuArgument[],
  ) => void;
}

export function createLauncher(driver: GpuDriver): Launcher {
  const kernels = new Map<string, GpuKernel>();
  const kernel = (name: string): GpuKernel => {
    let found = kernels.get(name);
    if (found === undefined) kernels.set(name, (found = driver.kernel(name)));
    return found;
  };
  return {
    overElements(name, count, values) {
      if (count === 0) return;
      driver.launch(kernel(name), [ceilDivide(count, groupItems)], [groupItems], values);
    },
    overRows(name, rows, slices, values) {
      driver.launch(kernel(name), [rows, slices], [groupItems], values);
    },
    overUnits(name, count, units, values) {
      if (count === 0) return;
      const width = units <= 32 ? 32 : units <= 64 ? 64 : 128;
      const height = sparseGroupItems / width;
      const groups = [ceilDivide(count, height), ceilDivide(units, width)] as const;
      driver.launch(kernel(name), groups, [width, height], values);
    },
    overGroups(name, groups, groupSize, values) {
      driver.launch(kernel(name), groups, groupSize, values);
    },
  };
}
