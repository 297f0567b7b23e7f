/** For tests in which a driver compiles kernels at their first use: pocl takes a minute on a busy machine. */
export const compileTime = { timeout: 180_000 } as const;
