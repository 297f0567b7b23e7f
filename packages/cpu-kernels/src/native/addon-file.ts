/**
 * Finds the addon's file and holds it against the manifest that the build wrote beside it, before
 * anything of it is mapped: the loader of the system takes the process down over a truncated one.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isInClone, lack, messageOf, rebuild, type Lack } from "../lack.js";

/** Which functions the addon has; `kInterface` in `native/boundary/operations.h`. */
export const addonInterface = 1;

export type AddonFile = { readonly ok: true; readonly path: string } | Lack;

interface Manifest {
  readonly interface: number;
  /** The instruction sets that the addon is compiled for. */
  readonly isas: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
}

/** The addon for this system in `prebuilds` of a package's folder, whole and of this interface. */
export function findAddon(folder: string): AddonFile {
  let path: string;
  try {
    const { resolve } = createRequire(import.meta.url)("node-gyp-build") as {
      resolve: (folder: string) => string;
    };
    path = resolve(folder);
  } catch {
    return absent(folder);
  }
  try {
    return hold(folder, path);
  } catch (error) {
    return lack(folder, `${path} can't be read: ${messageOf(error)}`);
  }
}

function hold(folder: string, path: string): AddonFile {
  const manifest = readManifest(`${path}.json`);
  if (manifest === undefined) {
    return lack(folder, `${path} has no valid manifest beside it (${path}.json)`);
  }
  const binary = readFileSync(path);
  if (binary.length !== manifest.bytes) {
    const sizes = `${binary.length} bytes, ${manifest.bytes} expected`;
    return lack(folder, `${path} is damaged: ${sizes}`);
  }
  if (createHash("sha256").update(binary).digest("hex") !== manifest.sha256) {
    return lack(folder, `${path} is damaged: its SHA-256 is not that of its manifest`);
  }
  return manifest.interface === addonInterface
    ? { ok: true, path }
    : lack(folder, otherInterface(path, manifest.interface));
}

/** What is wrong with an addon that has another interface, or none. */
export function otherInterface(path: string, version: unknown): string {
  return typeof version === "number"
    ? `${path} has interface ${version}, expected ${addonInterface}: it is of another version`
    : `${path} is not this package's addon`;
}

function readManifest(path: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Partial<Manifest> | null;
    const isManifest =
      typeof manifest?.interface === "number" &&
      typeof manifest.bytes === "number" &&
      typeof manifest.sha256 === "string";
    return isManifest ? (manifest as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

function absent(folder: string): Lack {
  const own = `${process.platform}-${process.arch}`;
  const built = isInClone(folder)
    ? buildReason(join(folder, "prebuilds", `${own}.reason.txt`))
    : undefined;
  if (built !== undefined) return built;
  const others = systemsIn(join(folder, "prebuilds"));
  const has = others.length === 0 ? "" : ` (it has those for ${others.join(", ")})`;
  if (isInClone(folder)) return lack(folder, "the addon was not built");
  return {
    ok: false,
    reason: `the package has no addon for this system, ${own}${has}`,
    remedy:
      others.length === 0 || others.includes(own)
        ? "reinstall the package, or use a supported system (see the README)"
        : "use one of these systems",
  };
}

/** What the build says of why it made none: the reason, and what would help. */
function buildReason(path: string): Lack | undefined {
  if (!existsSync(path)) return undefined;
  const [reason = "", remedy = rebuild] = readFileSync(path, "utf8").trim().split("\n");
  return { ok: false, reason, remedy };
}

function systemsIn(prebuilds: string): readonly string[] {
  if (!existsSync(prebuilds)) return [];
  return readdirSync(prebuilds, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
