// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [bin]
 * @property {Record<string, unknown>} [exports]
 * @property {Record<string, string>} [engines]
 * @property {readonly string[]} [files]
 *
 * @typedef {object} WorkspacePackage
 * @property {string} folder from the root, with forward slashes: `packages/sparse`
 * @property {string} id the folder's last part: `sparse`
 * @property {boolean} isPublic whether it is published
 * @property {Manifest} manifest
 */

/**
 * @param {string} path
 * @returns {any}
 */
export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/**
 * Every package of the workspace, in the order of folder names.
 *
 * @returns {readonly WorkspacePackage[]}
 */
export function workspacePackages() {
  return ["packages", "apps"].flatMap((parent) =>
    readdirSync(join(root, parent))
      .toSorted()
      .filter((id) => existsSync(join(root, parent, id, "package.json")))
      .map((id) => {
        const folder = `${parent}/${id}`;
        const manifest = readJson(join(root, folder, "package.json"));
        return { id, folder, manifest, isPublic: manifest.private !== true };
      }),
  );
}

/**
 * The file that a root devDependency's command runs, started with `node` so that no shell shim is
 * needed.
 *
 * @param {string} packageName
 * @param {string} [command] the command's name if it is not the package's
 * @returns {string}
 */
export function toolPath(packageName, command = packageName) {
  const folder = join(root, "node_modules", packageName);
  const { bin } = readJson(join(folder, "package.json"));
  return join(folder, typeof bin === "string" ? bin : bin[command]);
}
