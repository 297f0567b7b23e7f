/**
 * The folder that `kernels` lies in. Sources, the built package and a bundle that carries that
 * folder beside its `dist` all lie one level below it.
 */
export const packageRoot = new URL("..", import.meta.url);
