import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/node.ts"],
  // Optional, so tsup does not see to it by itself.
  external: ["@resvg/resvg-js"],
});
