import type { Options } from "tsup";

/**
 * What every package builds with: plain ESM for Node 20 and browsers. Declarations are written by
 * tsc after it (each package's `build` script), because tsup's own are several times slower and do
 * not run with this TypeScript. The base tsconfig is named because the root's maps sibling packages
 * to their sources, and tsup would copy those into the bundle.
 */
export const base = {
  format: "esm",
  target: "es2022",
  platform: "neutral",
  tsconfig: "../../tsconfig.base.json",
  sourcemap: true,
  clean: true,
  dts: false,
  splitting: true,
  silent: true,
} satisfies Options;
