/**
 * The kernels over raw addresses in imported shared memory. Nothing here allocates, and nothing
 * checks anything: the caller has checked every length, index and number.
 */
export { blend } from "./blend";
export { dense, denseBackward } from "./dense";
export { setGradient, setRule, setState } from "./gradient";
export { blockClasses, output } from "./output";
export { packedLanes } from "./products";
export { bytesAhead, gather, scatter, scatterByRule } from "./sparse";
export { columnOrder, counterBytes, labelOrder } from "./sort";
export { topK } from "./top-k";
