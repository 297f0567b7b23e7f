/**
 * The output layer: block by block of classes, and of rows, so that there are never scores of all classes but
 * where there is room to keep them between the softmax's two passes.
 */
import type { Loss } from "@heterosgd/model";
import type { Arrays, LayerPlace, Place } from "./arrays.js";
import type { HeldBatch } from "./batch-slot.js";
import type { Block, Computer } from "./computer.js";
import { addBack, multiplyTransposed, sumColumns } from "./dense.js";
import type { Update } from "./gradient.js";
import { labelMarks } from "./label-marks.js";
import * as programs from "./programs.js";
import {
  blockUnits,
  ceilDivide,
  partsOf,
  rowsPerBlock,
  slice,
  unitsPerBlock,
  type Part,
} from "./sizes.js";

export interface OutputCall {
  readonly batch: HeldBatch;
  readonly hidden: Place;
  readonly layer: LayerPlace;
  readonly loss: Loss;
  readonly update: Update | null;
  readonly dHidden: Place | null;
  readonly losses: Place;
}

/** Scores of some rows for some classes. */
export function scoresOf(
  computer: Computer,
  hidden: Block,
  weights: Block,
  bias: Block,
  inputs: number,
  classes: number,
): Block {
  const length = (hidden.length / inputs) * classes;
  return computer.run(programs.affine, length, [hidden, weights, bias], [inputs, classes]);
}

/** The logarithms of the sums of exponentials of each row's scores in a block. */
export function logSums(
  computer: Computer,
  scores: Block,
  maxima: Block,
  rows: number,
  classes: number,
): Block {
  const slices = ceilDivide(classes, slice);
  const sums = computer.run(programs.sliceSums, rows * slices, [scores, maxima], [classes, slices]);
  const result = computer.run(programs.logSumExp, rows, [maxima, sums], [slices]);
  computer.free(sums);
  return result;
}

/** The largest score of each slice of each row in a block. */
export function sliceMaxima(
  computer: Computer,
  scores: Block,
  rows: number,
  classes: number,
): Block {
  const slices = ceilDivide(classes, slice);
  return computer.run(programs.sliceMaxima, rows * slices, [scores], [classes, slices]);
}

/** Frees both, unless there is no left one. */
export function mergeLogSums(computer: Computer, left: Block | undefined, right: Block): Block {
  if (left === undefined) return right;
  const merged = computer.run(programs.mergeLogSums, right.length, [left, right]);
  computer.free(left, right);
  return merged;
}

export function createOutputLayer(computer: Computer, arrays: Arrays, keptBytes: number) {
  /** Replaces a running sum. */
  function follow(before: Block, next: Block): Block {
    computer.free(before);
    return next;
  }

  return ({ batch, hidden, layer, loss, update, dHidden, losses }: OutputCall): void => {
    const { inputs: width, outputs: classes } = layer;
    const size = rowsPerBlock(width, blockUnits);
    const rows = partsOf(batch.rows, size);
    const sources = arrays.onDevice(hidden, batch.rows * width, size * width);
    const classSize = unitsPerBlock(width);
    const blocks = partsOf(classes, classSize);
    const weights = arrays.onDevice(layer.weights, classes * width, classSize * width);
    const bias = arrays.onDevice(layer.bias, classes, classSize);
    const isBackward = update !== null || dHidden !== null;
    const isKept = isBackward && loss === "softmax" && 4 * batch.rows * classes <= keptBytes;

    const score = (row: Part, { index, count }: Part): Block =>
      scoresOf(computer, sources[row.index]!, weights[index]!, bias[index]!, width, count);

    // What both passes need of a block of rows and one of classes.
    const marks = rows.map((row) =>
      blocks.map((block) => computer.upload(labelMarks(batch, loss, row, block))),
    );
    const kept: Block[][] = rows.map(() => []);

    // First pass: normalisers, and losses.
    const totals = rows.map((row) => {
      let labelScores = computer.zeros(row.count);
      let sums = loss === "sigmoid" ? computer.zeros(row.count) : undefined;
      for (const block of blocks) {
        const { count } = block;
        const scores = score(row, block);
        const own = marks[row.index]![block.index]!;
        const terms = [labelScores, scores, own];
        const next = computer.run(programs.labelScores, row.count, terms, [row.count, count]);
        labelScores = follow(labelScores, next);
        if (loss === "softmax") {
          const maxima = sliceMaxima(computer, scores, row.count, count);
          const part = logSums(computer, scores, maxima, row.count, count);
          computer.free(maxima);
          sums = mergeLogSums(computer, sums, part);
        } else {
          const slices = ceilDivide(count, slice);
          const numbers = [count, slices];
          const parts = computer.run(programs.softplusSums, row.count * slices, [scores], numbers);
          sums = follow(sums!, computer.run(programs.rowSums, row.count, [sums!, parts], [slices]));
          computer.free(parts);
        }
        if (isKept) kept[row.index]!.push(scores);
        else computer.free(scores);
      }
      const terms = [sums!, labelScores, marks[row.index]![0]!];
      const result = computer.run(programs.losses, row.count, terms, [row.count]);
      computer.free(labelScores);
      return { sums: sums!, result };
    });

    // Second pass: derivatives, backward and into the gradient.
    if (isBackward) {
      let back = dHidden === null ? null : sources.map(({ length }) => computer.zeros(length));
      const applyWeights = update?.onDevice("weights", classSize * width);
      const applyBias = update?.onDevice("bias", classSize);
      for (const block of blocks) {
        const { count, index } = block;
        const derivatives = rows.map((row) => {
          const scores = kept[row.index]![index] ?? score(row, block);
          const own = marks[row.index]![index]!;
          const numbers = [row.count, count];
          const { sums } = totals[row.index]!;
          const derivative =
            loss === "softmax"
              ? computer.run(
                  programs.softmaxDerivative,
                  scores.length,
                  [scores, sums, own],
                  numbers,
                )
              : computer.run(programs.sigmoidLossDerivative, scores.length, [scores, own], numbers);
          computer.free(scores);
          return derivative;
        });
        back &&= back.map((sum, i) =>
          addBack(computer, sum, derivatives[i]!, weights[index]!, width, block, count, 0),
        );
        if (applyWeights !== undefined) {
          const gradient = multiplyTransposed(
            computer,
            derivatives,
            sources,
            rows,
            width,
            count,
            0,
            count,
          );
          applyWeights(index, gradient);
          const sums = sumColumns(computer, derivatives, rows, count, 0, count);
          applyBias!(index, sums);
          computer.free(gradient, sums);
        }
        computer.free(...derivatives);
      }
      if (back !== null) arrays.replace(dHidden!, batch.rows * width, size * width, back);
    }

    computer.free(...marks.flat(), ...totals.map(({ sums }) => sums));
    const results = totals.map(({ result }) => result);
    arrays.replace(losses, batch.rows, size, results);
  };
}
