/**
 * The folder that `wasm` and `prebuilds` lie in. Sources, the built package and a bundle that
 * carries both folders beside its `dist` all lie one level below it.
 */
export const packageRoot = new URL("..", import.meta.url);
