/**
 * The kernels as source text for gpu.js, which makes shaders, WebAssembly or JavaScript of it. Text, because
 * gpu.js reads its kernels as source, and tools that shrink or instrument functions would change it.
 *
 * All arrays are flat. What a thread `x` computes is an element of the result, whose rows and columns `place`
 * finds. Inner sums run in two loops (`sumOver`), for gpu.js stops a loop at a fixed number of rounds without
 * a word.
 */
import { loopLength } from "./sizes.js";

export interface Program {
  readonly name: string;
  /** Parameters: arrays, whole numbers, numbers. */
  readonly arrays: readonly string[];
  readonly integers: readonly string[];
  readonly floats: readonly string[];
  readonly body: string;
}

export function program(
  name: string,
  arrays: string,
  integers: string,
  floats: string,
  body: string,
): Program {
  const list = (text: string) => text.split(" ").filter((word) => word !== "");
  return {
    name,
    arrays: list(arrays),
    integers: list(integers),
    floats: list(floats),
    body: `const x = this.thread.x;\n${body}`,
  };
}

/** `x` as row and column of a matrix, whatever a division in float32 is off by. */
export const place = (width: string, row = "row", column = "column", index = "x"): string => `
  let ${row} = Math.floor(${index} / ${width});
  let ${column} = ${index} - ${row} * ${width};
  if (${column} < 0) { ${row} = ${row} - 1; ${column} = ${column} + ${width}; }
  if (${column} >= ${width}) { ${row} = ${row} + 1; ${column} = ${column} - ${width}; }`;

/** Adds `term`, in which `i` counts to `count`, to `sum`. */
export const sumOver = (count: string, term: string): string => `
  for (let first_i = 0; first_i < ${count}; first_i += ${loopLength}) {
    const size_i = Math.min(${loopLength}, ${count} - first_i);
    let part = 0;
    for (let inner_i = 0; inner_i < size_i; inner_i++) {
      const i = first_i + inner_i;
      part += ${term};
    }
    sum += part;
  }`;
