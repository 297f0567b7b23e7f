/**
 * Products of matrices, and what becomes of them: by the kernels of `matrix.cu`, or by the vendor's library where the
 * driver has one.
 */
import type { GpuFactor, GpuPointer, GpuProduct, GpuProductLibrary } from "../driver.js";
import type { LayerPlace } from "./arrays.js";
import type { Update } from "./gradient.js";
import { beyond, pointer, u32, type Launcher } from "./launch.js";
import type { Scratch } from "./scratch.js";
import { ceilDivide, partsOf, tile } from "./sizes.js";

/** Items of a group, each with 4 × 4 elements of a tile. */
const side = 16;
const squareGroup = [side, side] as const;
/** Groups that sum columns (`SUM_COLUMNS`, `SUM_ROWS`). */
const sumGroup = [32, 8] as const;

export const identity = 3;

export interface Products {
  /** `out[rows × units] = activation(input · weightsᵀ + bias)` for `units` of the layer. */
  readonly forward: (
    rows: number,
    input: GpuPointer,
    layer: LayerPlace,
    first: number,
    units: number,
    activation: number,
    out: GpuPointer,
  ) => void;
  /**
   * `out[rows × inputs] = derivatives[rows × units] · weights` for `units` of the layer; with
   * `again`, added to `out`.
   */
  readonly backward: (
    rows: number,
    derivatives: GpuPointer,
    layer: LayerPlace,
    first: number,
    units: number,
    again: boolean,
    out: GpuPointer,
  ) => void;
  /** The gradient of `units` of a layer by the derivatives takes effect. */
  readonly update: (
    rows: number,
    derivatives: GpuPointer,
    input: GpuPointer,
    inputs: number,
    first: number,
    units: number,
    update: Update,
  ) => void;
  /** The gradient of the bias alone takes effect. */
  readonly updateBias: (
    rows: number,
    derivatives: GpuPointer,
    first: number,
    units: number,
    update: Update,
  ) => void;
}

/** @param library - makes the products; null: kernels do. */
export function createProducts(
  launcher: Launcher,
  scratch: Scratch,
  library: GpuProductLibrary | null,
): Products {
  const own = createOwnProducts(launcher, scratch);
  if (library === null) return own;
  const byLibrary = createLibraryProducts(launcher, scratch, library);
  // It counts in 31 bits.
  const fits = (...sizes: readonly number[]) => sizes.every((size) => size < 2 ** 31);
  const madeBy = (...sizes: readonly number[]) => (fits(...sizes) ? byLibrary : own);
  return {
    forward: (rows, input, layer, first, units, ...rest) =>
      madeBy(rows, layer.inputs, units).forward(rows, input, layer, first, units, ...rest),
    backward: (rows, derivatives, layer, first, units, ...rest) =>
      madeBy(rows, layer.inputs, units).backward(rows, derivatives, layer, first, units, ...rest),
    update: (rows, derivatives, input, inputs, first, units, update) =>
      madeBy(rows, inputs, units).update(rows, derivatives, input, inputs, first, units, update),
    updateBias: own.updateBias,
  };
}

/** Products by the library: what becomes of them is the kernels' part. */
function createLibraryProducts(
  launcher: Launcher,
  scratch: Scratch,
  { multiply }: GpuProductLibrary,
): Omit<Products, "updateBias"> {
  const productRoom = scratch.buffer();

  return {
    forward(rows, input, { inputs, weights, bias }, first, units, activation, out) {
      multiply({
        rows,
        columns: units,
        inner: inputs,
        left: { place: input, stride: inputs, inner: 1 },
        right: { place: beyond(weights, first * inputs), stride: inputs, inner: 1 },
        scale: 1,
        kept: 0,
        out,
      });
      launcher.overElements("finish_dense", rows * units, [
        pointer(out),
        pointer(beyond(bias, first)),
        u32(units),
        u32(rows * units),
        u32(activation),
      ]);
    },

    backward(rows, derivatives, { inputs, weights }, first, units, again, out) {
      multiply({
        rows,
        columns: inputs,
        inner: units,
        left: { place: derivatives, stride: units, inner: 1 },
        right: { place: beyond(weights, first * inputs), stride: 1, inner: inputs },
        scale: 1,
        kept: again ? 1 : 0,
        out,
      });
    },

    update(rows, derivatives, input, inputs, first, units, update) {
      const product: Omit<GpuProduct, "scale" | "kept" | "out"> = {
        rows: units,
        columns: inputs,
        inner: rows,
        left: { place: derivatives, stride: 1, inner: units },
        right: { place: input, stride: 1, inner: inputs },
      };
      if (update.adds === null) {
        const out = productRoom(units * inputs);
        multiply({ ...product, scale: 1, kept: 0, out });
        updateByParts(launcher, out, units * inputs, 1, update.of("weights", first * inputs));
      } else {
        const out = update.target("weights", first * inputs);
        multiply({ ...product, scale: update.adds, kept: 1, out });
      }
      updateBias(launcher, rows, derivatives, first, units, update);
    },
  };
}

function updateByParts(
  launcher: Launcher,
  parts: GpuPointer,
  length: number,
  count: number,
  target: ReturnType<Update["of"]>,
): void {
  launcher.overElements("update_by_parts", length, [
    pointer(parts),
    u32(length),
    u32(count),
    ...target,
  ]);
}

function updateBias(
  launcher: Launcher,
  rows: number,
  derivatives: GpuPointer,
  first: number,
  units: number,
  update: Update,
): void {
  launcher.overGroups("update_by_sums", [ceilDivide(units, sumGroup[0])], sumGroup, [
    pointer(derivatives),
    u32(rows),
    u32(units),
    ...update.of("bias", first),
  ]);
}

function createOwnProducts(launcher: Launcher, scratch: Scratch): Products {
  const partsRoom = scratch.buffer();

  /** Writes parts of a product, and returns how many. */
  function multiply(
    left: GpuFactor,
    right: GpuFactor,
    rows: number,
    columns: number,
    inner: number,
    length: number,
    out: GpuPointer,
  ): void {
    const tiles = ceilDivide(rows, tile) * ceilDivide(columns, tile);
    launcher.overGroups("product_parts", [tiles, ceilDivide(inner, length)], squareGroup, [
      pointer(left.place),
      u32(left.stride),
      u32(left.inner),
      pointer(right.place),
      u32(right.stride),
      u32(right.inner),
      pointer(out),
      u32(rows),
      u32(columns),
      u32(inner),
      u32(length),
    ]);
  }

  return {
    forward(rows, input, layer, first, units, activation, out) {
      launcher.overGroups("dense", [ceilDivide(units, tile), ceilDivide(rows, tile)], squareGroup, [
        pointer(input),
        pointer(beyond(layer.weights, first * layer.inputs)),
        pointer(beyond(layer.bias, first)),
        pointer(out),
        u32(rows),
        u32(units),
        u32(layer.inputs),
        u32(activation),
      ]);
    },

    backward(rows, derivatives, layer, first, units, again, out) {
      const { inputs } = layer;
      const { count, length } = partsOf(rows, inputs, units);
      const left = { place: derivatives, stride: units, inner: 1 };
      const weights = beyond(layer.weights, first * inputs);
      const right = { place: weights, stride: 1, inner: inputs };
      if (count === 1 && !again) {
        multiply(left, right, rows, inputs, units, length, out);
        return;
      }
      const parts = partsRoom(count * rows * inputs);
      multiply(left, right, rows, inputs, units, length, parts);
      launcher.overElements("sum_parts", rows * inputs, [
        pointer(parts),
        pointer(out),
        u32(rows * inputs),
        u32(count),
        u32(again ? 1 : 0),
      ]);
    },

    update(rows, derivatives, input, inputs, first, units, update) {
      const { count, length } = partsOf(units, inputs, rows);
      const target = update.of("weights", first * inputs);
      if (count === 1) {
        const groups = [ceilDivide(units, tile), ceilDivide(inputs, tile)] as const;
        launcher.overGroups("update_by_product", groups, squareGroup, [
          pointer(derivatives),
          pointer(input),
          u32(rows),
          u32(units),
          u32(inputs),
          ...target,
        ]);
      } else {
        const parts = partsRoom(count * units * inputs);
        const left = { place: derivatives, stride: 1, inner: units };
        const right = { place: input, stride: 1, inner: inputs };
        multiply(left, right, units, inputs, rows, length, parts);
        updateByParts(launcher, parts, units * inputs, count, target);
      }
      updateBias(launcher, rows, derivatives, first, units, update);
    },

    updateBias: (rows, derivatives, first, units, update) =>
      updateBias(launcher, rows, derivatives, first, units, update),
  };
}
