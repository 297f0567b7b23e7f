import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/device.worker.ts", "src/checkpoint.worker.ts"],
  platform: "node",
  // The code has them inside; these are for people, to make their own from.
  onSuccess: () => cp("src/simulate/profiles", "dist/profiles", { recursive: true }),
});
