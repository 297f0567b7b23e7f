import { createRandom, type CsrMatrix } from "@heterosgd/sparse";
import type { ParameterLayout } from "./layout.js";

export interface InitialiseOptions {
  /**
   * The usual Euclidean norm of an input row; see `rowNorm`. The first layer's weights are divided
   * by it, so that its units start alike whatever the features' scale. Default 1, right for rows of
   * unit length (tf-idf).
   */
  readonly rowNorm?: number;
  /** Multiplies every initial weight. Default 1. */
  readonly scale?: number;
}

/**
 * Standard deviation that the first layer's sums start with. Larger, and features seen in no
 * training row add noise.
 */
const inputDeviation = 0.25;

/**
 * Fills `flat` with a network's initial parameters: a function of the layout, the seed and the
 * options alone, the same on every machine.
 *
 * Weights are uniform around 0. Standard deviations: 0.25/rowNorm in the first layer, √(2/inputs)
 * (ReLU) or √(1/inputs) in later hidden ones (He et al. 2015; LeCun et al. 1998), √(1/inputs) in
 * the output layer. Biases start at 0; those of independent sigmoids at −ln(labels), a probability
 * of about 1/labels, since a row has few of many labels. The first layer's figure and the sigmoids'
 * biases are our choice, by trial on held-out training rows.
 *
 * @throws RangeError if `flat` isn't as long as the layout or an option isn't above 0.
 */
export function initialise(
  layout: ParameterLayout,
  flat: Float32Array,
  seed: number,
  { rowNorm: norm = 1, scale = 1 }: InitialiseOptions = {},
): void {
  if (flat.length !== layout.length) {
    throw new RangeError(`The array has ${flat.length} elements, the layout ${layout.length}.`);
  }
  if (!(norm > 0) || !(scale > 0)) throw new RangeError("rowNorm and scale must be above 0.");
  const { activation, labels, loss } = layout.shape;
  const last = layout.layers.length - 1;
  flat.fill(0);
  for (const [index, { inputs, weights, bias }] of layout.layers.entries()) {
    const gain = activation === "relu" && index < last ? 2 : 1;
    const deviation = index === 0 ? inputDeviation / norm : Math.sqrt(gain / inputs);
    // A uniform distribution on [−a, a) has the standard deviation a/√3.
    const bound = scale * deviation * Math.sqrt(3);
    const random = createRandom(seed, initialisationStream, index);
    for (let i = weights.offset; i < weights.offset + weights.length; i++) {
      flat[i] = bound * (2 * random.nextFloat() - 1);
    }
    if (index === last && loss === "sigmoid") {
      flat.fill(-Math.log(labels), bias.offset, bias.offset + bias.length);
    }
  }
}

/** Tells these random numbers apart from other uses of a run's seed. */
const initialisationStream = 0x1417;

/** The root mean square of the rows' Euclidean norms; 1 if there are no values other than 0. */
export function rowNorm({ rows, values }: Pick<CsrMatrix, "rows" | "values">): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! ** 2;
  return sum > 0 ? Math.sqrt(sum / rows) : 1;
}
