import type { DeviceArray } from "@heterosgd/model";
import type { GpuDriver, GpuPointer } from "../driver.js";
import { tooLargeForOne } from "../errors.js";
import * as placed from "../placed-arrays.js";

/** An array in a device's memory, or part of one. */
export interface GpuArray extends DeviceArray {
  readonly length: number;
}

/** Where it lies; only the kernels that made it know that. */
interface Place extends GpuPointer {
  readonly length: number;
}

export type Arrays = placed.PlacedArrays<GpuPointer>;
export type LayerPlaces = placed.LayerPlaces<GpuPointer>;
export type LayerPlace = placed.LayerPlace<GpuPointer>;

/** Arrays of one device, and the checks of them. */
export function createArrays(driver: GpuDriver): Arrays {
  return placed.createPlacedArrays<Place>(
    (length) => {
      const bytes = 4 * length;
      if (bytes > driver.maxBufferBytes && bytes <= driver.memory().total) {
        throw tooLargeForOne(driver.name, bytes, driver.maxBufferBytes);
      }
      const buffer = driver.allocate(Math.max(bytes, 4));
      driver.clear({ buffer, offset: 0 }, length);
      return { buffer, offset: 0, length };
    },
    ({ buffer, offset }, start, length) => ({ buffer, offset: offset + start, length }),
  );
}
