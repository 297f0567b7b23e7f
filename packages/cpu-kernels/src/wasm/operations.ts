/** The operations on checked arguments, with the work buffers that each needs. */
import { gradientNumbers, type LayerPlace } from "./arguments.js";
import type { Capacity, RowsPlace } from "./batch-slot.js";
import type { WasmFunctions } from "./module.js";
import type { Scratch } from "./scratch.js";
import {
  blockBytes,
  blockClasses,
  counterBytes,
  keptBlocks,
  keptRoom,
  packedLanes,
  panelBytes,
  rowStateBytes,
  stagingBytes,
  tileBytes,
  tileStride,
} from "./sizes.js";

/** A gradient goes where the argument reader said last; `kind` is what it returned. */
export interface Operations {
  readonly gather: (batch: RowsPlace, layer: LayerPlace, activation: number, out: number) => void;
  readonly dense: (
    rows: number,
    input: number,
    layer: LayerPlace,
    activation: number,
    out: number,
  ) => void;
  readonly output: (
    batch: RowsPlace,
    hidden: number,
    layer: LayerPlace,
    loss: number,
    kind: number,
    dHidden: number,
    losses: number,
  ) => void;
  readonly denseBackward: (
    rows: number,
    input: number,
    layer: LayerPlace,
    activation: number,
    outputs: number,
    dOutputs: number,
    kind: number,
    dInput: number,
  ) => void;
  readonly scatter: (
    batch: RowsPlace,
    layer: LayerPlace,
    activation: number,
    outputs: number,
    dOutputs: number,
    kind: number,
  ) => void;
  /** Returns where ids, logits and sums of exponentials are. */
  readonly topK: (
    rows: number,
    hidden: number,
    layer: LayerPlace,
    k: number,
  ) => { readonly ids: number; readonly logits: number; readonly logSumExp: number };
}

const hasRule = (kind: number): boolean => kind > gradientNumbers.add;

/**
 * Buffers for rows are taken for the largest batch at once, so that smaller ones before it make
 * nothing grow.
 */
export function createOperations(
  wasm: WasmFunctions,
  scratch: Scratch,
  counters: (bytes: number) => number,
  capacity: Capacity,
  keptBytes: number,
): Operations {
  const panels = scratch.buffer();
  const staging = scratch.buffer();
  const scaled = scratch.buffer();
  const weightPanels = scratch.buffer();
  const tile = scratch.buffer();
  const kept = scratch.buffer();
  const keptMaxima = scratch.buffer();
  const rowState = scratch.buffer();
  const gradientRoom = scratch.buffer();
  const columns = scratch.buffer();
  const ends = scratch.buffer();
  const columnRows = scratch.buffer();
  const columnValues = scratch.buffer();
  const rowsRoom = scratch.buffer();
  const ids = scratch.buffer();
  const best = scratch.buffer();
  const logSumExp = scratch.buffer();
  const found = { ids: 0, logits: 0, logSumExp: 0 };

  return {
    gather({ rows, offsets, indices, values }, layer, activation, out) {
      const { weights, bias, outputs } = layer;
      wasm.gather(rows, offsets, indices, values, weights, bias, outputs, activation, out);
    },

    dense(rows, input, { weights, bias, inputs, outputs }, activation, out) {
      const panelsAt = panels(panelBytes(outputs, inputs));
      const stagingAt = staging(stagingBytes(Math.max(rows, capacity.rows), outputs));
      wasm.dense(rows, input, inputs, weights, bias, outputs, activation, out, panelsAt, stagingAt);
    },

    output(batch, hidden, layer, loss, kind, dHidden, losses) {
      const { weights, bias, inputs, outputs } = layer;
      const most = capacity.rows;
      const hasGradient = kind !== gradientNumbers.none;
      const isBackward = hasGradient || dHidden !== 0;
      const keeps = isBackward && loss === 0 ? keptBytes : 0;
      const room = keptRoom(most, outputs, keeps);
      wasm.output(
        loss,
        batch.rows,
        hidden,
        inputs,
        outputs,
        weights,
        bias,
        batch.labelOffsets,
        batch.labelClasses,
        batch.labelRows,
        batch.labelCount,
        dHidden,
        losses,
        panels(panelBytes(most, inputs)),
        scaled(hasGradient ? 4 * most * inputs : 0),
        weightPanels(dHidden === 0 ? 0 : blockBytes(outputs, inputs)),
        tile(tileBytes(most, outputs)),
        tileStride(batch.rows),
        kept(room),
        keptBlocks(batch.rows, outputs, keeps),
        keptMaxima(room / blockClasses),
        rowState(rowStateBytes(most)),
        gradientRoom(hasGradient ? blockBytes(outputs, inputs, hasRule(kind)) : 0),
      );
    },

    denseBackward(rows, input, layer, activation, outputs, dOutputs, kind, dInput) {
      const { weights, inputs, outputs: units } = layer;
      wasm.denseBackward(
        rows,
        input,
        inputs,
        weights,
        units,
        activation,
        outputs,
        dOutputs,
        dInput,
        panels(panelBytes(units, inputs)),
        scaled(4 * Math.max(rows, capacity.rows) * inputs),
        gradientRoom(4 * units * (hasRule(kind) ? inputs : 1)),
      );
    },

    scatter(batch, { outputs: units }, activation, outputs, dOutputs, kind) {
      const { rows, offsets, indices, values } = batch;
      const room = gradientRoom(4 * units);
      if (!hasRule(kind)) {
        wasm.scatter(rows, offsets, indices, values, units, activation, outputs, dOutputs, room);
        return;
      }
      const bytes = 4 * capacity.nonZeros;
      const columnsAt = columns(bytes);
      const endsAt = ends(bytes);
      const rowsAt = columnRows(bytes);
      const valuesAt = columnValues(bytes);
      const count = wasm.columnOrder(
        rows,
        offsets,
        indices,
        values,
        batch.features - 1,
        columnsAt,
        endsAt,
        rowsAt,
        valuesAt,
        rowsRoom(bytes),
        counters(counterBytes),
      );
      wasm.scatterByRule(
        rows,
        columnsAt,
        count,
        endsAt,
        rowsAt,
        valuesAt,
        units,
        activation,
        outputs,
        dOutputs,
        room,
      );
    },

    topK(rows, hidden, { weights, bias, inputs, outputs }, k) {
      const most = Math.max(rows, capacity.rows);
      found.ids = ids(4 * most * k);
      found.logits = best(4 * most * k);
      found.logSumExp = logSumExp(4 * packedLanes(most));
      wasm.topK(
        rows,
        hidden,
        inputs,
        outputs,
        weights,
        bias,
        k,
        found.ids,
        found.logits,
        found.logSumExp,
        panels(panelBytes(most, inputs)),
        tile(tileBytes(most, outputs)),
        tileStride(rows),
        rowState(rowStateBytes(most)),
      );
      return found;
    },
  };
}
