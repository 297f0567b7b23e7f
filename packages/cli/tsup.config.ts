import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/main.ts", "src/device.worker.ts", "src/checkpoint.worker.ts"],
  platform: "node",
});
