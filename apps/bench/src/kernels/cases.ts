/** All that `bench kernels` measures. */
import type { Case, Sizes } from "./case.js";
import { adamCase, blendCase, gatherCase, scatterCase } from "./first-layer-cases.js";
import { microCase, outputCase, topKCase } from "./output-cases.js";

const draws = ["uniform", "log-uniform"] as const;
const microRows = [1, 8];

const makers = {
  output: (sizes) => sizes.classes.map((classes) => outputCase(sizes, classes)),
  "top-k": (sizes) => sizes.classes.map((classes) => topKCase(sizes, classes)),
  gather: (sizes) => draws.map((draw) => gatherCase(sizes, draw)),
  scatter: (sizes) => draws.map((draw) => scatterCase(sizes, draw)),
  adam: (sizes) => [adamCase(sizes)],
  blend: () => [blendCase()],
  "micro-batches": (sizes) =>
    sizes.classes.flatMap((classes) => microRows.map((rows) => microCase(sizes, classes, rows))),
} as const satisfies Readonly<Record<string, (sizes: Sizes) => readonly Case[]>>;

export type Operation = keyof typeof makers;

/** In the order in which they are measured. */
export const operations = Object.keys(makers) as readonly Operation[];

/** The cases of one operation. Made when they are measured: their batches take memory. */
export function casesOf(operation: Operation, sizes: Sizes): readonly Case[] {
  return makers[operation](sizes);
}
