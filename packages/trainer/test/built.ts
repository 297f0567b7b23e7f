import { existsSync } from "node:fs";

const entry = new URL("../dist/index.js", import.meta.url);

/**
 * The built package: worker threads load no TypeScript, so what starts workers is tested as it is
 * published.
 */
export async function builtTrainer(): Promise<typeof import("../src/index.js")> {
  if (!existsSync(entry))
    throw new Error("packages/trainer is not built; run `npm run build` first");
  return import(entry.href) as Promise<typeof import("../src/index.js")>;
}
