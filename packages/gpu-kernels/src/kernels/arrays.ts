import { kindOf, type DeviceArray, type Layer, type LayerArrays } from "@heterosgd/model";
import { fail, requireObject, whole } from "../checks.js";
import type { GpuBuffer, GpuDriver, GpuPointer } from "../driver.js";
import { tooLargeForOne } from "../errors.js";

/** An array in a device's memory, or part of one. */
export interface GpuArray extends DeviceArray {
  readonly length: number;
}

/** Where it lies; only the kernels that made it know that. */
interface Place extends GpuPointer {
  readonly length: number;
}

export interface Arrays {
  readonly allocate: (length: number) => GpuArray;
  readonly view: (array: GpuArray, start: number, length: number) => GpuArray;
  /** Where an array of at least `least` elements lies. */
  readonly place: (operation: string, name: string, array: GpuArray, least: number) => GpuPointer;
  /** Where the arrays of a layer of these sizes lie. */
  readonly parts: (
    operation: string,
    name: string,
    arrays: LayerArrays<GpuArray>,
    sizes: { readonly inputs: number; readonly outputs: number },
  ) => LayerPlaces;
  readonly layer: (operation: string, layer: Layer<GpuArray>) => LayerPlace;
}

export interface LayerPlaces {
  readonly weights: GpuPointer;
  readonly bias: GpuPointer;
}

export interface LayerPlace extends LayerPlaces {
  readonly inputs: number;
  readonly outputs: number;
}

/** Elements are counted in 32 bits. */
const mostElements = 2 ** 32 - 1;

/** Arrays of one device, and the checks of them. */
export function createArrays(driver: GpuDriver): Arrays {
  const places = new WeakMap<GpuArray, Place>();

  function make(buffer: GpuBuffer, offset: number, length: number): GpuArray {
    const array: GpuArray = { length };
    places.set(array, { buffer, offset, length });
    return array;
  }

  function placeOf(operation: string, name: string, array: GpuArray): Place {
    const isObject = typeof array === "object" && array !== null;
    const place = isObject ? places.get(array) : undefined;
    if (place !== undefined) return place;
    fail(
      "KERNEL_ARRAY",
      operation,
      `${name} is ${kindOf(array)}, expected an array that allocate or view of these kernels gave`,
    );
  }

  function exact(operation: string, name: string, array: GpuArray, length: number): GpuPointer {
    const place = placeOf(operation, name, array);
    if (place.length === length) return place;
    fail("KERNEL_ARRAY", operation, `${name} has ${place.length} elements, expected ${length}`);
  }

  const parts: Arrays["parts"] = (operation, name, arrays, { inputs, outputs }) => {
    requireObject(operation, name, arrays);
    return {
      weights: exact(operation, `${name}.weights`, arrays.weights, inputs * outputs),
      bias: exact(operation, `${name}.bias`, arrays.bias, outputs),
    };
  };

  return {
    allocate(length) {
      whole("allocate", "length", length, 0, mostElements);
      const bytes = 4 * length;
      if (bytes > driver.maxBufferBytes && bytes <= driver.memory().total) {
        throw tooLargeForOne(driver.name, bytes, driver.maxBufferBytes);
      }
      const buffer = driver.allocate(Math.max(bytes, 4));
      driver.clear({ buffer, offset: 0 }, length);
      return make(buffer, 0, length);
    },

    view(array, start, length) {
      const place = placeOf("view", "array", array);
      whole("view", "start", start, 0, place.length);
      whole("view", "length", length, 0, place.length - start);
      return make(place.buffer, place.offset + start, length);
    },

    place(operation, name, array, least) {
      const place = placeOf(operation, name, array);
      if (place.length >= least) return place;
      fail(
        "KERNEL_ARRAY",
        operation,
        `${name} has ${place.length} elements, expected at least ${least}`,
      );
    },

    parts,

    layer(operation, layer) {
      requireObject(operation, "layer", layer);
      const inputs = whole(operation, "layer.inputs", layer.inputs, 1, mostElements);
      const outputs = whole(operation, "layer.outputs", layer.outputs, 1, mostElements);
      return { ...parts(operation, "layer", layer, { inputs, outputs }), inputs, outputs };
    },
  };
}
