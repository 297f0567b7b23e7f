/**
 * How far rounded factors alone may take an output layer's results from the exact ones.
 *
 * Where factors are rounded with unit roundoff u (2⁻²⁴ in float32, 2⁻⁸ in bfloat16) and their
 * products are summed up more exactly, a product is off by no more than ρ = 2u + u² of itself. Such
 * errors add up to a part of the sum of the products' *magnitudes*, however small the sum is that is
 * left once products of either sign have cancelled. To first order in u, for a row r, class c, unit j:
 *
 * ```
 * score       z_rc = Σ_j w_cj h_rj + bias_c     off by  e_rc = ρ Σ_j |w_cj h_rj|
 * derivative  δ_rc, sigmoid: slope ≤ 1/4        off by  d_rc = e_rc / 4
 *                   softmax: |dp_c| ≤ 2 p_c (1 − p_c) max e       max_k e_rk / 2
 * loss        sigmoid: slopes ≤ 1               off by  Σ_c e_rc
 *             softmax: Σ_c |p_c − y_c| ≤ 2              2 max_c e_rc
 * dHidden     Σ_c δ_rc w_cj                     off by  Σ_c |w_cj| (d_rc + ρ |δ_rc|)
 * weights     Σ_r δ_rc h_rj                     off by  Σ_r |h_rj| (d_rc + ρ |δ_rc|)
 * bias        Σ_r δ_rc                          off by  Σ_r (d_rc + u |δ_rc|)
 * ```
 */
import type { Batch, Layer, Loss } from "../kernels/contract.js";

/** The largest error of an element, for each array that `output` writes. */
export interface OutputRounding {
  readonly losses: number;
  readonly dHidden: number;
  /** Of the gradients, before they are scaled. */
  readonly weights: number;
  readonly bias: number;
}

/** @param hidden - rows × units: the output layer's inputs. */
export function outputRounding(
  roundoff: number,
  batch: Batch,
  hidden: Float64Array,
  layer: Layer<Float64Array>,
  loss: Loss,
): OutputRounding {
  const { inputs: units, outputs: classes } = layer;
  const ofProduct = 2 * roundoff + roundoff * roundoff;
  const scores = new Float64Array(classes);
  const errors = new Float64Array(classes);
  const dHidden = new Float64Array(units);
  const weights = new Float64Array(classes * units);
  const bias = new Float64Array(classes);
  let ofLosses = 0;
  let ofHidden = 0;
  for (let row = 0; row < batch.rows; row++) {
    const labels = batch.labels.subarray(batch.labelOffsets[row], batch.labelOffsets[row + 1]);
    if (labels.length === 0) continue;
    const own = hidden.subarray(row * units, (row + 1) * units);
    let sumOfErrors = 0;
    let largestError = 0;
    for (let c = 0; c < classes; c++) {
      let score = layer.bias[c]!;
      let magnitude = 0;
      for (let j = 0; j < units; j++) {
        const product = layer.weights[c * units + j]! * own[j]!;
        score += product;
        magnitude += Math.abs(product);
      }
      scores[c] = score;
      errors[c] = ofProduct * magnitude;
      sumOfErrors += errors[c]!;
      largestError = Math.max(largestError, errors[c]!);
    }
    ofLosses = Math.max(ofLosses, loss === "sigmoid" ? sumOfErrors : 2 * largestError);
    derive(scores, labels, loss);
    dHidden.fill(0);
    for (let c = 0; c < classes; c++) {
      const derivative = Math.abs(scores[c]!);
      const ofDerivative = loss === "sigmoid" ? errors[c]! / 4 : largestError / 2;
      const ofTerm = ofDerivative + ofProduct * derivative;
      bias[c]! += ofDerivative + roundoff * derivative;
      for (let j = 0; j < units; j++) {
        dHidden[j]! += Math.abs(layer.weights[c * units + j]!) * ofTerm;
        weights[c * units + j]! += Math.abs(own[j]!) * ofTerm;
      }
    }
    ofHidden = Math.max(ofHidden, largest(dHidden));
  }
  return { losses: ofLosses, dHidden: ofHidden, weights: largest(weights), bias: largest(bias) };
}

/** Makes a row's scores the derivatives of its loss by them. */
function derive(scores: Float64Array, labels: Uint32Array, loss: Loss): void {
  if (loss === "sigmoid") {
    for (let c = 0; c < scores.length; c++) scores[c] = 1 / (1 + Math.exp(-scores[c]!));
    for (const label of labels) scores[label]! -= 1;
    return;
  }
  const highest = scores.reduce((a, b) => Math.max(a, b));
  let sum = 0;
  for (let c = 0; c < scores.length; c++) sum += scores[c] = Math.exp(scores[c]! - highest);
  for (let c = 0; c < scores.length; c++) scores[c]! /= sum;
  for (const label of labels) scores[label]! -= 1 / labels.length;
}

/** The largest magnitude. */
export function largest(values: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]!));
  return most;
}
