/**
 * The kernels over raw addresses in imported shared memory. Nothing here allocates, and nothing
 * checks anything: the caller has checked every length, index and number.
 */
export { blend } from "./blend";
export { dense, denseBackward, multiplyFew } from "./dense";
export { setGradient, setRule, setState } from "./gradient";
export { addLogSumExp, sigmoidBlock, softmaxBlock, softmaxBlockFromKept } from "./losses";
export { blockClasses, output, propagate } from "./output";
export { packedLanes } from "./products";
export { bytesAhead, gather, gatherRow, scatter, scatterByRule, scatterRow } from "./sparse";
export { columnOrder, counterBytes, labelOrder } from "./sort";
export { rank, topK } from "./top-k";
