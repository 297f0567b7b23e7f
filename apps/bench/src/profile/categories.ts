/** What a thread of a run is doing, told by its call stack. */
import type { CallFrame } from "./cpu-profile.js";

/** What a device's thread does, in the order in which it is shown. */
export const deviceCategories = [
  "filling batches",
  "upload",
  "gather",
  "dense",
  "output",
  "denseBackward",
  "scatter",
  "micro-batches",
  "other kernels",
  "rest of training",
  "evaluation",
  "merging",
  "garbage collection",
  "messages",
  "waiting",
] as const;
export type DeviceCategory = (typeof deviceCategories)[number];

/** What keeps a device from training and evaluating. */
export const overheadCategories: readonly DeviceCategory[] = ["merging", "messages", "waiting"];

/** What the main thread does. */
export const mainCategories = [
  "reading data",
  "initial weights",
  "writing",
  "showing",
  "garbage collection",
  "coordination and rest",
  "waiting",
] as const;
export type MainCategory = (typeof mainCategories)[number];

/** Where a frame's source lies. */
type SourceOf = (frame: CallFrame) => string;

/** Names of the operations of kernels, each in any implementation's sources. */
const operationOfName: Readonly<Record<string, DeviceCategory>> = {
  upload: "upload",
  gather: "gather",
  dense: "dense",
  output: "output",
  denseBackward: "denseBackward",
  scatter: "scatter",
  trainMicroBatches: "micro-batches",
};
const kernelSources = /\/(?:cpu-kernels|kernels\/plain)\/|\/cpu-kernels\/dist\//u;

export function deviceCategory(stack: readonly CallFrame[], sourceOf: SourceOf): DeviceCategory {
  const system = systemCategory(stack);
  if (system !== null) return system;
  const frames = stack.map((frame) => ({ name: frame.functionName, source: sourceOf(frame) }));
  const within = (source: RegExp, name?: string) =>
    frames.some(
      (frame) => source.test(frame.source) && (name === undefined || frame.name === name),
    );
  if (within(/\/row-work\./u, "evaluateRows")) return "evaluation";
  // The outermost: one operation may be made of others.
  for (const { name, source } of frames) {
    if (!kernelSources.test(source)) continue;
    const operation = operationOfName[name] ?? operationOfName[operationOfFile(source)];
    if (operation !== undefined) return operation;
  }
  if (within(/\/merge\/|\/blend-shard\.|\/own-model\./u)) return "merging";
  if (within(/\/row-work\./u, "fillBatch") || within(/\/sparse\//u)) return "filling batches";
  if (within(kernelSources)) return "other kernels";
  if (within(/\/row-work\.|\/network\/network\./u)) return "rest of training";
  return "messages";
}

/** `…/dense-backward.ts` holds `denseBackward`. */
function operationOfFile(source: string): string {
  const base = /([^/]*)\.[jt]s$/u.exec(source)?.[1] ?? "";
  return base.replaceAll(/-([a-z])/gu, (_, letter: string) => letter.toUpperCase());
}

export function mainCategory(stack: readonly CallFrame[], sourceOf: SourceOf): MainCategory {
  const system = systemCategory(stack);
  if (system !== null) return system;
  const sources = stack.map(sourceOf);
  const within = (source: RegExp) => sources.some((one) => source.test(one));
  if (within(/\/initialise\./u)) return "initial weights";
  if (within(/\/run-folder\.|\/model\/src\/files\//u)) return "writing";
  if (within(/\/cli\/src\/output\//u)) return "showing";
  if (within(/\/sparse\/|\/cli\/src\/(?:data|row-stream)\.|^node:(?:internal\/)?zlib/u)) {
    return "reading data";
  }
  return "coordination and rest";
}

function systemCategory(stack: readonly CallFrame[]): "waiting" | "garbage collection" | null {
  const name = stack.at(-1)?.functionName;
  if (name === "(idle)") return "waiting";
  return name === "(garbage collector)" ? "garbage collection" : null;
}
