/** The kernels of layers, losses and rankings. */
import { place, program, sumOver } from "./program.js";
import { blockUnits, slice } from "./sizes.js";

/** For each class of a row's slice of scores, `z`. */
const overSlice = (statements: string): string => `
  ${place("slices")}
  const begin = row * classes + column * ${slice};
  const size = Math.min(${slice}, classes - column * ${slice});
  for (let j = 0; j < size; j++) {
    const z = scores[begin + j];
    ${statements}
  }`;

const lowest = "-3.0e38";
const sigmoid = `
  const e = Math.exp(-Math.abs(z));
  let y = e / (1 + e);
  if (z >= 0) { y = 1 / (1 + e); }`;

/** Takes the weight off `y` if a class is among its row's labels, which ascend: halving, to the first not below it. */
const lessLabels = `
  const labels = 2 * rows + 1;
  const end = marks[row + 1];
  let low = marks[row];
  let high = end;
  for (let j = 0; j < ${Math.log2(blockUnits) + 1}; j++) {
    if (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (marks[labels + middle] < column) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  if (low < end) {
    if (marks[labels + low] === column) { y = y - weight; }
  }`;

export const copy = program("copy", "source", "", "", "return source[x];");
export const zeros = program("zeros", "", "", "", "return x * 0;");
/** A vector as every row of a matrix. */
export const repeat = program(
  "repeat",
  "vector",
  "width",
  "",
  `${place("width")}\n return vector[column];`,
);

/** `input · weightsᵀ + bias`. */
export const affine = program(
  "affine",
  "input weights bias",
  "inputs outputs",
  "",
  `${place("outputs")}
  const a = row * inputs;
  const b = column * inputs;
  let sum = bias[column];
  ${sumOver("inputs", "input[a + i] * weights[b + i]")}
  return sum;`,
);

/** The same for columns `first` to `first + units` of a wider result, whose others are `before`'s. */
export const affineInto = program(
  "affineInto",
  "before input weights bias",
  "inputs outputs first units",
  "",
  `${place("outputs")}
  let sum = before[x];
  if (column >= first && column < first + units) {
    const a = row * inputs;
    const b = (column - first) * inputs;
    sum = bias[column - first];
    ${sumOver("inputs", "input[a + i] * weights[b + i]")}
  }
  return sum;`,
);

/** `before + d · weights`, where d is columns `first` to `first + units` of `stride`. */
export const back = program(
  "back",
  "before d weights",
  "inputs units stride first",
  "",
  `${place("inputs")}
  const a = row * stride + first;
  let sum = before[x];
  ${sumOver("units", "d[a + i] * weights[i * inputs + column]")}
  return sum;`,
);

/** `before + dᵀ · input`. */
export const product = program(
  "product",
  "before d input",
  "rows inputs stride first",
  "",
  `${place("inputs")}
  const a = first + row;
  let sum = before[x];
  ${sumOver("rows", "d[i * stride + a] * input[i * inputs + column]")}
  return sum;`,
);

/** `before + Σ rows of d`. */
export const columnSums = program(
  "columnSums",
  "before d",
  "rows stride first",
  "",
  `const a = first + x;
  let sum = before[x];
  ${sumOver("rows", "d[i * stride + a]")}
  return sum;`,
);

/** `before + S · matrix` for a sparse S: `entries` holds starts of rows, columns, values. */
export const sparse = program(
  "sparse",
  "before entries matrix",
  "width columns values",
  "",
  `${place("width")}
  const begin = entries[row];
  const count = entries[row + 1] - begin;
  let sum = before[x];
  ${sumOver("count", "entries[values + begin + i] * matrix[entries[columns + begin + i] * width + column]")}
  return sum;`,
);

export const activations = {
  // NaN has to stay NaN, for a diverged network must show in its loss: compilers of shaders make a
  // maximum, which loses it, of "0 if z < 0".
  relu: program(
    "relu",
    "source",
    "",
    "",
    "const z = source[x]; return 0.5 * z + 0.5 * Math.abs(z);",
  ),
  sigmoid: program("sigmoid", "source", "", "", `const z = source[x];${sigmoid}\n return y;`),
  tanh: program(
    "tanh",
    "source",
    "",
    "",
    `const z = source[x];
    const e = Math.exp(-2 * Math.abs(z));
    let y = (1 - e) / (1 + e);
    if (z < 0) { y = -y; }
    // The quotient cancels near 0.
    if (Math.abs(z) < 0.1) { y = z * (1 - z * z * (0.33333333 - z * z * (0.13333333 - 0.05396825 * z * z))); }
    return y;`,
  ),
} as const;

/** Derivatives times the activation's own, which follows from its output. */
export const derivatives = {
  relu: program(
    "reluDerivative",
    "d outputs",
    "",
    "",
    "let y = d[x]; if (outputs[x] <= 0) { y = 0; } return y;",
  ),
  sigmoid: program(
    "sigmoidDerivative",
    "d outputs",
    "",
    "",
    "const y = outputs[x]; return d[x] * y * (1 - y);",
  ),
  tanh: program(
    "tanhDerivative",
    "d outputs",
    "",
    "",
    "const y = outputs[x]; return d[x] * (1 - y * y);",
  ),
} as const;

/** The largest score of each slice. */
export const sliceMaxima = program(
  "sliceMaxima",
  "scores",
  "classes slices",
  "",
  `let most = ${lowest};\n ${overSlice("if (z > most) { most = z; }")}\n return most;`,
);
export const sliceSums = program(
  "sliceSums",
  "scores maxima",
  "classes slices",
  "",
  `const most = maxima[x];
  let sum = 0;
  ${overSlice("sum += Math.exp(z - most);")}
  return sum;`,
);
/** The logarithm of the sum of the exponentials of a row's scores, from its slices. */
export const logSumExp = program(
  "logSumExp",
  "maxima sums",
  "slices",
  "",
  `const begin = x * slices;
  let most = ${lowest};
  for (let i = 0; i < slices; i++) {
    const z = maxima[begin + i];
    if (z > most) { most = z; }
  }
  let sum = 0;
  for (let j = 0; j < slices; j++) {
    sum += sums[begin + j] * Math.exp(maxima[begin + j] - most);
  }
  return most + Math.log(sum);`,
);
/** Of two parts of a row. */
export const mergeLogSums = program(
  "mergeLogSums",
  "left right",
  "",
  "",
  `const a = left[x];
  const b = right[x];
  let most = a;
  if (b > most) { most = b; }
  return most + Math.log(Math.exp(a - most) + Math.exp(b - most));`,
);
/** log(1 + eᶻ) over each slice, without overflow; the logarithm of 1 and little as a series. */
export const softplusSums = program(
  "softplusSums",
  "scores",
  "classes slices",
  "",
  `let sum = 0;
  ${overSlice(`const e = Math.exp(-Math.abs(z));
    let y = Math.log(1 + e);
    if (e < 0.02) { y = e * (1 - e * (0.5 - e * (0.33333333 - 0.25 * e))); }
    if (z > 0) { y = y + z; }
    sum += y;`)}
  return sum;`,
);
/** `before + Σ columns`. */
export const rowSums = program(
  "rowSums",
  "before parts",
  "slices",
  "",
  `const begin = x * slices;
  let sum = before[x];
  for (let i = 0; i < slices; i++) { sum += parts[begin + i]; }
  return sum;`,
);

/**
 * `before +` a row's labels' scores times their weight. `marks` holds where each row's labels start, each row's
 * weight of a label (0: it has none), and the labels, counted from the block's first class.
 */
export const labelScores = program(
  "labelScores",
  "before scores marks",
  "rows classes",
  "",
  `const begin = marks[x];
  const count = marks[x + 1] - begin;
  const weight = marks[rows + 1 + x];
  let sum = before[x];
  ${sumOver("count", "weight * scores[x * classes + marks[2 * rows + 1 + begin + i]]")}
  return sum;`,
);
/** Of labelled rows; 0 of others. */
export const losses = program(
  "losses",
  "sums labelScores marks",
  "rows",
  "",
  "let loss = 0; if (marks[rows + 1 + x] > 0) { loss = sums[x] - labelScores[x]; } return loss;",
);
/** p − y. */
export const softmaxDerivative = program(
  "softmaxDerivative",
  "scores logSums marks",
  "rows classes",
  "",
  `${place("classes")}
  const weight = marks[rows + 1 + row];
  let y = 0;
  if (weight > 0) {
    y = Math.exp(scores[x] - logSums[row]);
    ${lessLabels}
  }
  return y;`,
);
/** σ − y. */
export const sigmoidLossDerivative = program(
  "sigmoidLossDerivative",
  "scores marks",
  "rows classes",
  "",
  `${place("classes")}
  const weight = marks[rows + 1 + row];
  const z = scores[x];
  ${sigmoid}
  if (weight > 0) {
    ${lessLabels}
  } else {
    y = 0;
  }
  return y;`,
);

/** Some slices of each row. A pick of −1 stands for none. */
export const takeSlices = program(
  "takeSlices",
  "scores picks",
  "classes picked",
  "",
  `${place(String(slice))}
  ${place("picked", "own", "pick", "row")}
  const chosen = picks[row];
  const chosenClass = chosen * ${slice} + column;
  let z = ${lowest};
  if (chosen >= 0 && chosenClass < classes) { z = scores[own * classes + chosenClass]; }
  return z;`,
);
