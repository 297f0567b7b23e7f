/** The kernels that change parameters by a gradient. */
import { program } from "./program.js";

/** `target + scale · g`. */
export const add = program("add", "target g", "", "scale", "return target[x] + scale * g[x];");
/** Duchi, Hazan, Singer 2011: the sums of squares. */
export const adagradState = program(
  "adagradState",
  "state g",
  "",
  "scale",
  "const y = scale * g[x]; return state[x] + y * y;",
);
export const adagradStep = program(
  "adagradStep",
  "target g state",
  "",
  "scale rate epsilon",
  "return target[x] - rate * scale * g[x] / (Math.sqrt(state[x]) + epsilon);",
);
/** Kingma, Ba 2015, Algorithm 1: the moments. */
export const firstMoment = program(
  "firstMoment",
  "moment g",
  "",
  "scale beta rest",
  "return beta * moment[x] + rest * scale * g[x];",
);
export const secondMoment = program(
  "secondMoment",
  "moment g",
  "",
  "scale beta rest",
  "const y = scale * g[x]; return beta * moment[x] + rest * y * y;",
);
export const adamStep = program(
  "adamStep",
  "target first second",
  "",
  "rate epsilon correction",
  "return target[x] - rate * first[x] / (Math.sqrt(second[x] * correction) + epsilon);",
);
