/** Arrays that stand for places of a device, and the checks of them. */
import { kindOf, type DeviceArray, type Layer, type LayerArrays } from "@heterosgd/model";
import { fail, requireObject, whole } from "./checks.js";

export interface LayerPlaces<P> {
  readonly weights: P;
  readonly bias: P;
}

export interface LayerPlace<P> extends LayerPlaces<P> {
  readonly inputs: number;
  readonly outputs: number;
}

export interface PlacedArrays<P> {
  readonly allocate: (length: number) => DeviceArray;
  readonly view: (array: DeviceArray, start: number, length: number) => DeviceArray;
  /** Where an array of at least `least` elements lies. */
  readonly place: (operation: string, name: string, array: DeviceArray, least: number) => P;
  /** Where the arrays of a layer of these sizes lie. */
  readonly parts: (
    operation: string,
    name: string,
    arrays: LayerArrays<DeviceArray>,
    sizes: { readonly inputs: number; readonly outputs: number },
  ) => LayerPlaces<P>;
  readonly layer: (operation: string, layer: Layer<DeviceArray>) => LayerPlace<P>;
}

/** Elements are counted in 32 bits. */
const mostElements = 2 ** 32 - 1;

/**
 * @param take - room for so many elements, all 0.
 * @param part - `length` elements of a place, from `start` on.
 */
export function createPlacedArrays<P extends { readonly length: number }>(
  take: (length: number) => P,
  part: (place: P, start: number, length: number) => P,
): PlacedArrays<P> {
  const places = new WeakMap<DeviceArray, P>();

  function make(own: P): DeviceArray {
    const array: DeviceArray = { length: own.length };
    places.set(array, own);
    return array;
  }

  function place(operation: string, name: string, array: DeviceArray, least: number): P {
    const isObject = typeof array === "object" && array !== null;
    const found = isObject ? places.get(array) : undefined;
    if (found === undefined) {
      const expected = "expected an array that allocate or view of these kernels gave";
      fail("KERNEL_ARRAY", operation, `${name} is ${kindOf(array)}, ${expected}`);
    }
    if (found.length >= least) return found;
    const message = `${name} has ${found.length} elements, expected at least ${least}`;
    fail("KERNEL_ARRAY", operation, message);
  }

  function exact(operation: string, name: string, array: DeviceArray, length: number): P {
    const found = place(operation, name, array, 0);
    if (found.length === length) return found;
    fail("KERNEL_ARRAY", operation, `${name} has ${found.length} elements, expected ${length}`);
  }

  const parts: PlacedArrays<P>["parts"] = (operation, name, arrays, { inputs, outputs }) => {
    requireObject(operation, name, arrays);
    return {
      weights: exact(operation, `${name}.weights`, arrays.weights, inputs * outputs),
      bias: exact(operation, `${name}.bias`, arrays.bias, outputs),
    };
  };

  return {
    allocate(length) {
      whole("allocate", "length", length, 0, mostElements);
      return make(take(length));
    },

    view(array, start, length) {
      const own = place("view", "array", array, 0);
      whole("view", "start", start, 0, own.length);
      whole("view", "length", length, 0, own.length - start);
      return make(part(own, start, length));
    },

    place,
    parts,

    layer(operation, layer) {
      requireObject(operation, "layer", layer);
      const inputs = whole(operation, "layer.inputs", layer.inputs, 1, mostElements);
      const outputs = whole(operation, "layer.outputs", layer.outputs, 1, mostElements);
      return { ...parts(operation, "layer", layer, { inputs, outputs }), inputs, outputs };
    },
  };
}
