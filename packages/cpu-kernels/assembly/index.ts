/**
 * The kernels over raw addresses in imported shared memory. Nothing here allocates, and nothing
 * checks anything: the caller has checked every length, index and number.
 */
/**
 * Which functions there are and what they take: one more with every change, here and in
 * `src/wasm/module.ts`, so that neither side takes an older other one.
 */
export const interfaceVersion: i32 = 1;
export { blend } from "./blend";
export { dense, denseBackward } from "./dense";
export { setGradient, setRule, setState } from "./gradient";
export { blockClasses, output } from "./output";
export { packedLanes } from "./products";
export { bytesAhead, gather, scatter, scatterByRule } from "./sparse";
export { columnOrder, counterBytes, labelOrder } from "./sort";
export { topK } from "./top-k";
