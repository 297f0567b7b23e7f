import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const packageFolder = fileURLToPath(new URL("..", import.meta.url));

/** Files of a folder with one of these endings, in order: paths in the folder. */
export function filesIn(folder, endings) {
  return readdirSync(folder)
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .toSorted();
}

/** Names of the kernels that a folder's sources define. */
export function kernelNames(folder) {
  return filesIn(folder, [".cu"]).flatMap((file) => {
    const source = readFileSync(join(folder, file), "utf8");
    return [...source.matchAll(/^KERNEL\s+(\w+)\s*\(/gmu)].map(([, name]) => name);
  });
}
