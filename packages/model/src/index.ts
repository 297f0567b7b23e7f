export type * from "./kernels/contract.js";
