import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`./packages/${path}`, import.meta.url));

// Unit tests read the packages' sources and need no build. Tests of workers and of the command run
// on `dist`.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@heterosgd\/([a-z-]+)$/, replacement: source("$1/src/index.ts") },
      { find: /^@heterosgd\/([a-z-]+)\/([a-z-]+)$/, replacement: source("$1/src/$2.ts") },
    ],
  },
  test: {
    pool: "forks",
    // Many tests wait more than they compute: with one file at a time, half of a small machine would idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "apps/*/{src,test}/**/*.test.ts",
      "scripts/**/*.test.ts",
      "test-support/**/*.test.ts",
    ],
    setupFiles: ["test-support/matchers.ts", "test-support/silence.ts"],
    testTimeout: 30_000,
  },
});
