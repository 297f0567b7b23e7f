/** What is missing or wrong with the files that the package brings, and what helps. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Why something can't be had, and what would help. */
export interface Lack {
  readonly ok: false;
  readonly reason: string;
  readonly remedy: string;
}

export const rebuild = "`npm run build` makes it";

/** A file in a package's folder is wrong or missing: packages bring it, clones build it. */
export function lack(folder: string, reason: string): Lack {
  const remedy = isInClone(folder) ? `${rebuild} again` : "reinstall the package";
  return { ok: false, reason, remedy };
}

/** Packages come without the addon's sources. Bundles in a clone lie beside this package. */
export function isInClone(folder: string): boolean {
  return [folder, join(folder, "..", "cpu-kernels")].some((one) =>
    existsSync(join(one, "native", "addon.cc")),
  );
}

/** The first line of what was thrown. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n", 1)[0]!;
}
